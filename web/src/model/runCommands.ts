/** What can be done with the links and hosts of a live run: by their menus, and from the palette. */
import { tick } from 'svelte';
import type { Command } from './commands';
import { change, running } from './running.svelte';

/** What the view does for them. */
export type Place = {
  capture: (link: string) => void;
  choose: (link: string) => void;
  enter: (host: string) => void;
};

export function linkCommands(link: string, place: Place): Command[] {
  const isDown = running.downs.includes(link);
  return [
    {
      name: isDown ? `Bring up ${link}` : `Take down ${link}`,
      group: 'Run',
      run: () => change(link, 'both', { up: isDown }),
    },
    { name: `Capture packets of ${link}`, group: 'Run', run: () => place.capture(link) },
    {
      name: `Change ${link}`,
      group: 'Run',
      run: async () => {
        place.choose(link);
        await tick();
        document.getElementById('change-delay')?.focus();
      },
    },
  ];
}

export const hostCommand = (host: string, place: Place): Command => ({
  name: `Shell in ${host}`,
  group: 'Run',
  run: () => place.enter(host),
});

/** `set LINK key=value ...`, as on the command line. */
export function typedChange(query: string, links: readonly string[]): Command[] {
  const [word, link = '', ...pairs] = query.trim().split(/\s+/);
  if (word !== 'set' || !links.includes(link) || !pairs.every((each) => /^\w+=./.test(each))) return [];
  const changes = Object.fromEntries(
    pairs.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]),
  );
  const text = pairs.join(' ');
  return pairs.length
    ? [{ name: `set ${link} ${text}`, group: 'Run', run: () => change(link, 'both', changes) }]
    : [{ name: `set ${link} delay=20ms: type the new values`, group: 'Run', run: () => undefined }];
}
