import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { components } from './schema.js';

export { WebhookVerificationError };

/** What Herald posts to you; `type` distinguishes the events. */
export type WebhookEvent =
  | components['schemas']['MessageReceivedEvent']
  | components['schemas']['MessageStatusUpdatedEvent']
  | components['schemas']['MessageStandbyReceivedEvent']
  | components['schemas']['MessageSentElsewhereEvent']
  | components['schemas']['ConversationControlUpdatedEvent']
  | components['schemas']['ConversationUpdatedEvent']
  | components['schemas']['TemplateStatusUpdatedEvent']
  | components['schemas']['TemplateCategoryUpdatedEvent']
  | components['schemas']['MediaReadyEvent']
  | components['schemas']['MediaFailedEvent']
  | components['schemas']['ConnectionUpdatedEvent']
  | components['schemas']['ContactOptOutUpdatedEvent']
  | components['schemas']['WorkspaceLimitReachedEvent']
  | components['schemas']['PaymentUpdatedEvent']
  | components['schemas']['CallMissedEvent']
  | components['schemas']['CallEndedEvent']
  | components['schemas']['PlatformErrorEvent']
  | components['schemas']['DestinationEventsLostEvent']
  | components['schemas']['WebhookTestEvent'];

/** `request.headers` of Node, of Express, or of a `Request`. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

const SIGNED = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/**
 * The event of a delivery, once its signature was found right and its time not more than five minutes off.
 *
 * @param rawBody the body as it came: parsed and written again it is another text, and its signature wrong
 * @param secrets of the webhook; while you change over, the new and the old one
 * @throws WebhookVerificationError where it is not from Herald: answer 401 and do nothing
 */
export function verifyWebhook(
  rawBody: string | Uint8Array,
  headers: WebhookHeaders,
  ...secrets: [string, ...string[]]
): WebhookEvent {
  const body = typeof rawBody === 'string' ? rawBody : new TextDecoder().decode(rawBody);
  const signed = Object.fromEntries(SIGNED.map((name) => [name, headerOf(headers, name)]));
  let fault: unknown;
  for (const secret of secrets) {
    try {
      return new Webhook(secret).verify(body, signed) as WebhookEvent;
    } catch (error) {
      fault = error;
    }
  }
  throw fault;
}

export interface WebhookListenerOptions {
  /** Of the webhook; while you change over, the new and the old one. */
  secrets: [string, ...string[]];
  /**
   * What to do with an event. Herald waits up to ten seconds for it, so store the event here and work on it afterwards.
   * It may come twice: remember `event.id`.
   */
  onEvent: (event: WebhookEvent) => void | Promise<void>;
  /** What `onEvent` threw, or what broke off a request, for your log. Herald delivers such an event again. */
  onError: (error: unknown) => void;
}

/** Bytes of the longest delivery that is read; Herald's own are shorter. */
const LONGEST_BODY = 4_194_304;

/**
 * A listener for `createServer` of `node:http`. It answers 204 once `onEvent` is through, 401 where the delivery is not
 * from Herald, 413 where it is too long for that, and 500 where `onEvent` fails. The listener never throws.
 *
 * @throws TypeError where a secret is missing
 */
export function webhookListener({ secrets, onEvent, onError }: WebhookListenerOptions) {
  const given: readonly (string | undefined)[] = secrets ?? [];
  if (given.length === 0 || given.some((secret) => typeof secret !== 'string' || secret.trim() === '')) {
    throw new TypeError(
      'secrets has none. Give the secret of the webhook (whsec_...); is the environment variable set?',
    );
  }
  const statusFor = async (request: IncomingMessage): Promise<number> => {
    try {
      const body = await bodyOf(request);
      if (body === null) return 413;
      await onEvent(verifyWebhook(body, request.headers, ...secrets));
      return 204;
    } catch (error) {
      if (error instanceof WebhookVerificationError) return 401;
      onError(error);
      return 500;
    }
  };
  return (request: IncomingMessage, response: ServerResponse): void => {
    void statusFor(request).then((status) => response.writeHead(status).end());
  };
}

/** Null where it is longer than a delivery can be. */
async function bodyOf(request: IncomingMessage): Promise<Uint8Array | null> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request as AsyncIterable<Uint8Array>) {
    length += chunk.length;
    // Read to its end, as leaving the loop would end the connection before an answer.
    if (length <= LONGEST_BODY) chunks.push(chunk);
  }
  return length > LONGEST_BODY ? null : Buffer.concat(chunks);
}

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' ? value : '';
}
