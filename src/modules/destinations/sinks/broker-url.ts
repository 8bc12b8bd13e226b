import { parseUrl } from '../../../common/parse-url.js';
import type { DestinationKind } from '../destinations.types.js';
import type { HostAndPort } from './destination-addresses.service.js';

/** The schemes of each kind, with their default ports. */
const PORTS: Readonly<Record<DestinationKind, Readonly<Record<string, number>>>> = {
  nats: { 'nats:': 4_222, 'tls:': 4_222 },
  rabbitmq: { 'amqp:': 5_672, 'amqps:': 5_671 },
  sqs: { 'https:': 443, 'http:': 80 },
};

const EXAMPLES: Readonly<Record<DestinationKind, string>> = {
  nats: 'nats://nats.example.com:4222 or tls://nats.example.com:4222',
  rabbitmq: 'amqps://rabbitmq.example.com:5671/vhost or amqp://...',
  sqs: 'https://sqs.eu-central-1.amazonaws.com/123456789012/events.fifo',
};

const UNCLEAN = /[\s\p{Cc}\\#?]/u;
const MAX_LENGTH = 1_024;

/** The fault in the form of an address; null: none. Never repeats the address, which may contain a password. */
export function faultOfUrl(text: string, kind: DestinationKind): string | null {
  const url = text.length > MAX_LENGTH || UNCLEAN.test(text) ? null : parseUrl(text);
  if (url === null || url.hostname === '' || PORTS[kind][url.protocol] === undefined) {
    return `Send an address such as ${EXAMPLES[kind]}.`;
  }
  if (url.username !== '' || url.password !== '') return 'Give user name and password in fields of their own.';
  if (kind === 'nats' && !['', '/'].includes(url.pathname)) return 'Leave out what follows host and port.';
  return null;
}

/** For an address that was checked. */
export function hostAndPort(text: string, kind: DestinationKind): HostAndPort {
  const url = new URL(text);
  const host = url.hostname.toLowerCase().replace(/\.$/, '');
  return { host, port: url.port === '' ? (PORTS[kind][url.protocol] ?? 0) : Number(url.port) };
}
