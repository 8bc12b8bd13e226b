import type { components, operations } from './schema.js';
import type { WebhookEvent } from './webhooks.js';

type Schemas = components['schemas'];

export type Attempt = Schemas['AttemptResponse'];
export type CheckedMessage = Schemas['MessageCheck'];
export type Connection = Schemas['ConnectionResponse'];
export type Conversation = Schemas['ConversationResponse'];
export type Delivery = Schemas['DeliveryResponse'];
export type Media = Schemas['MediaResponse'];
export type Message = Schemas['MessageResponse'];
export type MessageListItem = Schemas['MessageListItem'];
export type MessageTimeline = Schemas['TimelineResponse'];
export type OptOut = Schemas['OptOutResponse'];
export type OtpChallenge = Schemas['OtpChallengeResponse'];
export type Profile = Schemas['ProfileResponse'];
export type Tag = Schemas['TagResponse'];
export type Template = Schemas['TemplateResponse'];
export type Usage = Schemas['UsageResponse'];
export type UsageRow = Schemas['UsageRowResponse'];
export type Replay = Schemas['ReplayData'];
export type WebhookSettings = Schemas['WebhookSettingsWithSecret'];

type Body<Name extends keyof operations> = operations[Name] extends {
  requestBody?: { content: { 'application/json': infer Json } };
}
  ? Json
  : never;
type Query<Name extends keyof operations> = NonNullable<operations[Name]['parameters']['query']>;

/** One to three, with different ids and titles of up to 20 characters. */
export type ReplyButton = { type: 'reply'; reply: { id: string; title: string } };
/** Ten in all sections together; titles of up to 24 characters. */
export type ListRow = { id: string; title: string; description?: string };
export type ListSection = { title?: string; rows: ListRow[] };

type Interactive = Schemas['SendInteractive'];
type OfKind<Kind extends Interactive['interactive']['type'], Action> = Omit<Interactive, 'interactive'> & {
  interactive: Omit<Extract<Interactive['interactive'], { type: Kind }>, 'action'> & { action: Action };
};
/** Reply buttons. */
export type SendButtons = OfKind<'button', { buttons: ReplyButton[] }>;
/** `button` is the label that opens the list, of up to 20 characters. */
export type SendList = OfKind<'list', { button: string; sections: ListSection[] }>;

/** Exactly one of the message variants; `type` distinguishes them. */
export type SendMessage = Exclude<Body<'messages_send'>, Interactive> | SendButtons | SendList;
/** A message of a batch. */
export type KeyedMessage = Body<'messages_sendBatch'>['messages'][number];
/** The same; one without a key gets a new one. */
export type BatchMessage = SendMessage & { idempotency_key?: string };
/** `permissive` takes the messages that can be sent where others cannot, which `errors` names. Default: all or none. */
export type SendBatch = Omit<Body<'messages_sendBatch'>, 'messages'> & { messages: readonly BatchMessage[] };
export type CheckBatch = Body<'messages_checkBatch'>;
export type CreateTemplate = Body<'templates_create'>;
export type EditTemplate = Body<'templates_edit'>;
export type PreviewTemplate = Body<'templates_preview'>;
export type PutOptOut = Body<'optOuts_put'>;
export type PutTag = Body<'tags_put'>;
export type RetryTag = NonNullable<Body<'tags_retry'>>;
export type UpdateProfile = Body<'profile_update'>;
export type ConfigureWebhook = Body<'webhook_put'>;
export type CreateDestination = Body<'destinations_create'>;
export type ChangeDestination = Body<'destinations_change'>;
export type ReplayDestination = Body<'destinations_replay'>;
export type StartReplay = Body<'replays_start'>;
export type TestWebhook = Body<'webhook_test'>;
export type SendOtp = Body<'otp_send'>;
export type VerifyOtp = Body<'otp_verify'>;

export type UpdateConversation = Body<'conversations_update'>;
export type ControlConversation = Body<'conversations_control'>;

/** What a list may be narrowed to; the iterator turns the pages. */
export type MessageFilter = Omit<Query<'messages_list'>, 'before_id'>;
export type ConversationFilter = Omit<Query<'conversations_list'>, 'before_id'>;
export type UsageQuestion = Query<'usage_messages'>;
export type CodeUsageQuestion = Query<'usage_codes'>;
export type MemberFilter = Omit<Query<'members_list'>, 'before_id'>;
export type OptOutFilter = Omit<Query<'optOuts_list'>, 'before_id'>;
export type MediaLinkOptions = Query<'media_link'>;
export type MediaFilter = Omit<Query<'media_list'>, 'before_id'>;
export type DeliveryFilter = Omit<Query<'webhook_deliveries'>, 'before_id'>;
/** Where to begin: behind `after`, a cursor that you have stored, or `now`; without it at the oldest that is kept. */
/** What GET /events gives, and what Herald posts to a webhook. */
export type Event = WebhookEvent;
export type EventFilter = Omit<Query<'events_list'>, 'types' | 'wait'> & { types?: readonly WebhookEvent['type'][] };
export type TemplateFilter = Omit<Query<'templates_list'>, 'after'>;
