import { codeOf } from '../../../common/describe-error.js';
import type { JournalEvent } from '../../webhook/events/journal.types.js';

/**
 * Why an event was not written, as a short, stable word. The workspace sees it, so it contains no address and no text
 * from the broker.
 */
export class SinkError extends Error {
  /** @param never this event can never be written, however often it is tried. */
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
  /** False: the connection broke, and must be opened again. */
  readonly isOpen: boolean;
  /** Limit of one call of `write`. */
  readonly maxAtOnce: number;
  /**
   * Writes events of different conversations. Never rejects.
   *
   * @returns for each: null once the broker has acknowledged it, or why it has not. An event with an unknown outcome
   * may be passed again.
   */
  write(events: readonly OutgoingEvent[], withinMs: number): Promise<(SinkError | null)[]>;
  close(): Promise<void>;
}

/** An event with its workspace. */
export interface OutgoingEvent extends JournalEvent {
  organizationId: string;
}

/** The key by which brokers keep order: the conversation, or the workspace for events without one. */
export function orderKey({ conversationId, organizationId }: OutgoingEvent): string {
  return conversationId ?? organizationId;
}

/** Attributes of CloudEvents 1.0, by name without a prefix. `datacontenttype` is the content type of the message. */
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

/** A subject or routing key: `{type}` stands for the kind of event, `{conversation}` for the order key. */
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

/** The word for an error of a connection. */
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

/** The answer, or a SinkError `word` after this time; the operation continues in the background. */
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
