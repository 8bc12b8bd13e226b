export {
  createHeraldClient,
  type HeraldClient,
  type HeraldClientOptions,
  type Keyed,
  type UploadOptions,
} from './client.js';
export { HeraldConnectionError, HeraldError, isHeraldError, type ErrorDetail } from './errors.js';
export type { AwaitableList, CursorStore, FollowOptions, List, ListPage } from './pages.js';
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
export type * from './resources.js';
