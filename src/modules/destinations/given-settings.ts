import { invalidField } from '../../common/common.errors.js';
import type { DestinationKind, DestinationSecrets, DestinationSettings } from './destinations.types.js';
import { hostAndPort } from './sinks/broker-url.js';
import type { HostAndPort } from './sinks/destination-addresses.service.js';

/** In the form of the API: settings and secrets side by side. */
export type GivenSettings = Readonly<Record<string, string | undefined>>;

const SETTINGS: Readonly<Record<DestinationKind, readonly string[]>> = {
  nats: ['url', 'subject', 'username'],
  rabbitmq: ['url', 'exchange', 'routing_key', 'username'],
  sqs: ['queue_url', 'region', 'access_key_id'],
};

const SECRETS: Readonly<Record<DestinationKind, readonly string[]>> = {
  nats: ['password', 'token', 'credentials'],
  rabbitmq: ['password'],
  sqs: ['secret_access_key', 'session_token'],
};

/** The secret that a kind requires. */
const NEEDED: Readonly<Record<DestinationKind, string | null>> = {
  nats: null,
  rabbitmq: 'password',
  sqs: 'secret_access_key',
};

/**
 * Separates settings and secrets.
 *
 * @param kept secrets that stay where none are given.
 * @param complete whether a required secret must be present.
 * @throws INVALID_REQUEST (400).
 */
export function splitSettings(
  kind: DestinationKind,
  given: GivenSettings,
  kept: DestinationSecrets,
  complete = true,
): { settings: DestinationSettings; secrets: DestinationSecrets } {
  const settings = Object.fromEntries(SETTINGS[kind].map((name) => [name, given[name] ?? null]));
  const named = SECRETS[kind].flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]] as const]));
  // New secrets replace all earlier ones: a session token belongs to its key, and a login has only one form.
  const secrets = named.length === 0 ? kept : Object.fromEntries(named);
  const needed = NEEDED[kind];
  if (complete && needed !== null && secrets[needed] === undefined) {
    const message = 'Give it with the address: it is kept only while host, port and TLS stay as they are.';
    throw invalidField(`${kind}.${needed}`, 'required', message);
  }
  if (kind === 'nats' && complete && secrets.password !== undefined && given.username === undefined) {
    throw invalidField('nats.username', 'required', 'A password needs a user name.');
  }
  return { settings: settings as unknown as DestinationSettings, secrets };
}

export function addressOf(
  kind: DestinationKind,
  settings: DestinationSettings,
): HostAndPort & {
  secure: boolean;
} {
  const url = 'queue_url' in settings ? settings.queue_url : settings.url;
  return { ...hostAndPort(url, kind), secure: /^(tls|amqps|https):/i.test(url) };
}
