import type { JsonObject } from '../../common/json.js';
import { own, ownId, ownObject, ownText, storableText } from './json-access.js';

/** What the platform says of a customer's message beside its content; each is left out where it says nothing. */
export interface InboundContext {
  readonly context?: {
    readonly forwarded?: true;
    readonly frequently_forwarded?: true;
    /** The product that the customer asks about. */
    readonly referred_product?: JsonObject;
    /** The message that this one answers, where it is none of ours. */
    readonly quoted_platform_id?: string;
  };
  /** The advertisement or post that led the customer here, as received. */
  readonly referral?: JsonObject;
  /** State of the customer's keys, where the number checks for changes. */
  readonly identity?: JsonObject;
  readonly username?: string;
  /** Only on what was said in a group. */
  readonly group_id?: string;
}

/** Room for every field that the platform is known to send, several times over. */
const MAX_BYTES = 16 * 1024;
const MAX_USERNAME = 256;

/** Reads what stands beside the content of one of `messages[]`. What is malformed or too large is left out. */
export function readInboundContext(raw: JsonObject, contact: JsonObject | null): InboundContext {
  const given = ownObject(raw, 'context');
  const keyHash = ownId(contact, 'identity_key_hash');
  const username = ownText(ownObject(contact, 'profile'), 'username');
  const context = present({
    forwarded: own(given, 'forwarded') === true || null,
    frequently_forwarded: own(given, 'frequently_forwarded') === true || null,
    referred_product: boundedObject(given, 'referred_product'),
  });
  return present({
    context: Object.keys(context).length === 0 ? null : context,
    referral: boundedObject(raw, 'referral'),
    identity: boundedObject(raw, 'identity') ?? (keyHash === null ? null : { hash: keyHash }),
    username: username === null || username === '' ? null : storableText(username.slice(0, MAX_USERNAME)),
    group_id: ownId(raw, 'group_id'),
  });
}

function boundedObject(parent: JsonObject | null, key: string): JsonObject | null {
  const found = ownObject(parent, key);
  return found === null || Buffer.byteLength(JSON.stringify(found)) > MAX_BYTES ? null : found;
}

function present<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null)) as {
    [K in keyof T]?: NonNullable<T[K]>;
  };
}
