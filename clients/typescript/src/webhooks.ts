import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { components } from './schema.js';

export { WebhookVerificationError };

/** What Herald posts to you; `type` distinguishes the events. */
export type WebhookEvent =
  | components['schemas']['MessageReceivedEvent']
  | components['schemas']['MessageStatusUpdatedEvent']
  | components['schemas']['WebhookTestEvent'];

/** `request.headers` of Node, of Express, or of a `Request`. */
export type WebhookHeaders = Headers | Record<string, string | readonly string[] | undefined>;

const SIGNED = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];

/**
 * The event of a delivery, once its signature was found right and its time not more than five minutes off.
 *
 * @param rawBody the body as it came: parsed and written again it is another text, and its signature wrong
 * @param secrets of the webhook; while you change over, the new and the old one
 * @throws WebhookVerificationError where it is not from Herald: answer 400 and do nothing
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

function headerOf(headers: WebhookHeaders, name: string): string {
  const value = headers instanceof Headers ? headers.get(name) : headers[name];
  return typeof value === 'string' ? value : '';
}
