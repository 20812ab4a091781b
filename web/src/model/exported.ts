/** Formats in which a scenario is exported to real machines. */
import type { Bodies } from '../api/types/addresses';

export type Wish = Bodies['POST /export'];
export type Kind = NonNullable<Wish['kind']>;

/** Name, short title, and what the files are. */
export const KINDS: readonly (readonly [Kind, string, string])[] = [
  ['shell', 'shell', 'a script for each machine, with undo (iproute2, netem, tbf)'],
  ['tc', 'tc', 'the commands of tc (netem, tbf) alone, link by link'],
  ['ansible', 'Ansible', 'inventory, playbooks and scripts'],
  ['containerlab', 'containerlab', 'a lab whose nodes run the scripts'],
  ['compose', 'Docker Compose', 'docker-compose.override.yml'],
];
