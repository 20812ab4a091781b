/** Delays that follow from distances: the server knows the length of fibre, this which links it concerns. */
import { api, type Edit } from '../api/client';
import type { Model, ModelLink } from '../api/translate';
import type { Move } from './selection';

export type Place = [number, number];

export const placeOf = (model: Model, name: string): Place | null =>
  model.nodes.find((each) => each.name === name)?.at ?? null;

/** The delay of fibre between two nodes, as the file has it; null where one has no place, or both the same. */
export async function delayBetween(model: Model, a: string, b: string): Promise<string | null> {
  const [one, other] = [placeOf(model, a), placeOf(model, b)];
  if (!one || !other) return null;
  try {
    const [fibre] = await api.fibres([{ one, other }]);
    return fibre && fibre.delay_ns > 0 ? fibre.delay : null;
  } catch {
    // The link is drawn all the same; the edit says what is wrong with the server.
    return null;
  }
}

/** Whether a link has one delay, a plain one, that the page may replace. */
export const replaceable = ({ attachment, written, text }: ModelLink): boolean =>
  !attachment && written && /^\d/.test(text.delay ?? '') && !text.forward?.delay && !text.reverse?.delay;

/**
 * New delays of links when nodes move: of those whose delay is that of fibre between the places as they were, with the
 * link's own route factor or the rule's.
 */
export async function following(
  model: Model,
  moves: readonly Move[],
  factors: Readonly<Record<string, number>>,
): Promise<Edit[]> {
  const to = new Map(moves.map(({ name, at }) => [name, at]));
  const links = model.links
    .filter((link) => (to.has(link.a) || to.has(link.b)) && link.a !== link.b && replaceable(link))
    .flatMap((link) => {
      const [one, other] = [placeOf(model, link.a), placeOf(model, link.b)];
      return one && other ? [{ link, one, other, route_factor: factors[link.name] ?? null }] : [];
    });
  if (!links.length) return [];
  try {
    const fibres = await api.fibres([
      ...links.map(({ one, other, route_factor }) => ({ one, other, route_factor })),
      ...links.map(({ link, one, other, route_factor }) => ({
        one: to.get(link.a) ?? one,
        other: to.get(link.b) ?? other,
        route_factor,
      })),
    ]);
    return links.flatMap(({ link }, index): Edit[] => {
      const [old, next] = [fibres[index]!, fibres[index + links.length]!];
      if (old.delay_ns !== link.forward.delay_ns || next.delay_ns === 0 || next.delay_ns === old.delay_ns)
        return [];
      return [{ op: 'set', path: ['links', link.name, 'delay'], value: next.delay }];
    });
  } catch {
    return [];
  }
}
