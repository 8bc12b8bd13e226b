import { codeOf } from '../../../common/describe-error.js';
import type { JournalEvent } from '../../webhook/events/journal.types.js';

/**
 * Why an event was not written, in words that are short, stable and shown to the workspace: they contain no address and nothing that the
 * broker sent.
 */
export class SinkError extends Error {
  /** @param never this event can never be written, whatever is repeated. */
  constructor(
    readonly word: string,
    readonly never = false,
  ) {
    super(word);
    this.name = 'SinkError';
  }
}

/** An open connection to a broker or queue. */
export interface Sink {
  /** False: it has broken, and is to be opened again. */
  readonly isOpen: boolean;
  /** Of one call of `write`. */
  readonly maxAtOnce: number;
  /**
   * Writes events of different conversations. Never rejects.
   *
   * @returns for each: null once the broker has acknowledged it, or why it has not. An event whose outcome is not known may be given again.
   */
  write(events: readonly OutgoingEvent[], withinMs: number): Promise<(SinkError | null)[]>;
  close(): Promise<void>;
}

/** An event, and the workspace that it is of. */
export interface OutgoingEvent extends JournalEvent {
  organizationId: string;
}

/** What brokers keep in order: the events of a conversation, and those of the workspace that are about none. */
export function orderKey({ conversationId, organizationId }: OutgoingEvent): string {
  return conversationId ?? organizationId;
}

/** Attributes of CloudEvents 1.0, by their names without prefix. `datacontenttype` is the content type of the message. */
export function cloudEvent(event: OutgoingEvent): Record<string, string> {
  return {
    specversion: '1.0',
    id: event.id,
    source: `/workspaces/${event.organizationId}`,
    type: event.type,
    time: event.occurredAt.toISOString(),
    partitionkey: orderKey(event),
  };
}

/** A subject or routing key: `{type}` stands for the kind of the event, `{conversation}` for what is kept in order. */
export function filledIn(template: string, event: OutgoingEvent): string {
  return template.replaceAll('{type}', event.type).replaceAll('{conversation}', orderKey(event));
}

const WORDS: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connection_refused',
  ECONNRESET: 'connection_closed',
  EPIPE: 'connection_closed',
  ECONNABORTED: 'connection_closed',
  ETIMEDOUT: 'connect_timeout',
  ENETUNREACH: 'unreachable',
  EHOSTUNREACH: 'unreachable',
  CERT_HAS_EXPIRED: 'tls_certificate',
  ERR_TLS_CERT_ALTNAME_INVALID: 'tls_certificate',
  DEPTH_ZERO_SELF_SIGNED_CERT: 'tls_certificate',
  SELF_SIGNED_CERT_IN_CHAIN: 'tls_certificate',
  UNABLE_TO_GET_ISSUER_CERT: 'tls_certificate',
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: 'tls_certificate',
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: 'tls_certificate',
};

/** Of an error of a connection. */
export function connectionWord(error: unknown): string {
  for (let each: unknown = error; each instanceof Error; each = each.cause) {
    if (each instanceof SinkError) return each.word;
    const code = codeOf(each) ?? '';
    const word = WORDS[code];
    if (word !== undefined) return word;
    if (code.startsWith('ERR_SSL') || code.startsWith('ERR_TLS')) return 'tls_failed';
  }
  return 'connection_failed';
}

/** The answer, or a SinkError `word` after so long; what it was about goes on in the background. */
export async function answeredWithin<T>(answer: Promise<T>, ms: number, word: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new SinkError(word)), Math.max(0, ms));
  });
  try {
    return await Promise.race([answer, late]);
  } finally {
    clearTimeout(timer);
  }
}
