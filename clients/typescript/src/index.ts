export { createHeraldAdmin, type HeraldAdmin, type HeraldAdminOptions } from './admin.js';
export type { Keyed } from './calls.js';
export { createHeraldClient, type HeraldClient, type HeraldClientOptions, type UploadOptions } from './client.js';
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
export type { components, operations, paths } from './schema.js';
export type * from './resources.js';
