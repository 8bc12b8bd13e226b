export { createHeraldClient, type HeraldClient, type HeraldClientOptions } from './client.js';
export { HeraldConnectionError, HeraldError, isHeraldError, type ErrorDetail } from './errors.js';
export { receivedContent, type ReceivedContent } from './received.js';
export {
  verifyWebhook,
  webhookListener,
  WebhookVerificationError,
  type WebhookEvent,
  type WebhookHeaders,
  type WebhookListenerOptions,
} from './webhooks.js';
export type { ErrorCode, components, operations, paths } from './schema.js';
export type {
  Attempt,
  Connection,
  Media,
  Message,
  MessageListItem,
  OptOut,
  OtpChallenge,
  Profile,
  Replay,
  SendMessage,
  Template,
  WebhookSettings,
} from './resources.js';
