type Content = Readonly<Record<string, unknown>>;

/** Fields of media that the platform takes, by type; others would be refused. */
const media =
  (...fields: string[]) =>
  (content: Content): Content =>
    Object.fromEntries(
      ['id', 'link', ...fields].flatMap((field) => (content[field] === undefined ? [] : [[field, content[field]]])),
    );
const asItIs = (content: Content): Content => content;

/** The platform's object for each type that can be sent. */
const VARIANTS = {
  text: (content) => ({ body: content.body, preview_url: content.preview_url ?? false }),
  image: media('caption'),
  video: media('caption'),
  audio: media('voice'),
  document: media('caption', 'filename'),
  sticker: media(),
  template: asItIs,
  interactive: asItIs,
  location: asItIs,
  contacts: (content) => content.contacts,
  reaction: (content, contextMessageId) => ({ message_id: contextMessageId, emoji: content.emoji }),
} satisfies Record<string, (content: Content, contextMessageId: string | null) => unknown>;

export type SendableType = keyof typeof VARIANTS;

export interface MessageBodyInput {
  /** Digits without `+`. */
  readonly to: string;
  /** The business-scoped user id to which it goes instead. */
  readonly userId?: string | null;
  readonly type: SendableType;
  /** The type's object as the journal keeps it. */
  readonly content: Content;
  /** The platform's id of the message that this one answers; for a reaction the one it is on. */
  readonly contextMessageId?: string | null | undefined;
  /** Comes back with every status of the message: the attempt's id. At most 512 characters. */
  readonly callbackData: string;
}

export function isSendableType(type: string): type is SendableType {
  return Object.hasOwn(VARIANTS, type);
}

/** The Cloud API's JSON for one message. */
export function buildMessageBody(input: MessageBodyInput): Record<string, unknown> {
  const { to, type, content, callbackData } = input;
  const contextMessageId = input.contextMessageId ?? null;
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // Without the `+` the platform puts the sender's country code in front.
    ...(input.userId ? { recipient: input.userId } : { to: `+${to}` }),
    type,
    [type]: VARIANTS[type](content, contextMessageId),
    // A reaction names its message itself; everything else quotes it.
    ...(contextMessageId !== null && type !== 'reaction' && { context: { message_id: contextMessageId } }),
    biz_opaque_callback_data: callbackData,
  };
}
