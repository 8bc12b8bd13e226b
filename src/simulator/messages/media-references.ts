import { fits } from '../media/media-types.js';
import type { MediaStore } from '../media/media-store.js';
import { invalidValue, isObject, type JsonObject } from './checks.js';
import { MEDIA_KINDS, type MediaKind } from './media-checks.js';

/** The id of the platform's own examples: always there, as whatever kind it is sent, so that examples can be tried. */
export const EXAMPLE_MEDIA_ID = '1037543291543636';

/** Data of flows, which may look like anything. */
const OPAQUE = ['flow_action_payload', 'flow_action_data'];
const DEEPEST = 12;

/** One file that a message names. */
interface MediaReference {
  kind: MediaKind;
  id: string | null;
  link: string | null;
}

/**
 * Looks after the files that a checked message names, wherever they stand in it.
 * @returns false where the message is taken and fails by notification: a file of another kind, or one whose bytes are not
 *   what its type says, or a link that leads nowhere for certain (a host below `.invalid`)
 * @throws GraphError 131009 for an id that is gone, was never given out, or belongs to another number
 */
export function checkMediaReferences(
  body: JsonObject,
  type: string,
  media: MediaStore,
  phoneNumberId: string,
): boolean {
  if (type === 'text' || type === 'reaction' || type === 'location' || type === 'contacts') return true;
  let usable = true;
  for (const { kind, id, link } of referencesIn({ [type]: body[type] }, 0)) {
    if (link !== null && /^https?:\/\/[^/?#]*\.invalid(?:[:/?#]|$)/i.test(link)) usable = false;
    if (id === null || id === EXAMPLE_MEDIA_ID) continue;
    const file = media.get(id);
    if (file === undefined || file.phoneNumberId !== phoneNumberId) {
      throw invalidValue(`Media with id ${id} does not exist, or does not belong to this phone number`);
    }
    if (!file.usable || !fits(file.mimeType, kind)) usable = false;
  }
  return usable;
}

function referencesIn(value: unknown, depth: number): MediaReference[] {
  if (depth > DEEPEST) return [];
  if (Array.isArray(value)) return value.flatMap((item) => referencesIn(item, depth + 1));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, inner]) => {
    if (OPAQUE.includes(key)) return [];
    const kind = MEDIA_KINDS.find((one) => one === key);
    if (kind === undefined || !isObject(inner)) return referencesIn(inner, depth + 1);
    const id = typeof inner.id === 'string' || typeof inner.id === 'number' ? String(inner.id) : null;
    return [{ kind, id, link: typeof inner.link === 'string' ? inner.link : null }];
  });
}
