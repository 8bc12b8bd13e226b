type Content = Readonly<Record<string, unknown>>;

/** Fields of media that the platform takes besides the file, by type; others would be refused. */
export const MEDIA_FIELDS: Readonly<Record<string, readonly string[]>> = {
  image: ['caption'],
  video: ['caption'],
  audio: ['voice'],
  document: ['caption', 'filename'],
  sticker: [],
};
const media =
  (type: string) =>
  (content: Content): Content =>
    Object.fromEntries(
      ['id', 'link', ...(MEDIA_FIELDS[type] ?? [])].flatMap((field) =>
        content[field] === undefined ? [] : [[field, content[field]]],
      ),
    );
const asItIs = (content: Content): Content => content;

/** The platform's object for each type that can be sent. */
const VARIANTS = {
  text: (content) => ({ body: content.body, preview_url: content.preview_url ?? false }),
  image: media('image'),
  video: media('video'),
  audio: media('audio'),
  document: media('document'),
  sticker: media('sticker'),
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
  /** `<message id>.<attempt id>`, returned with each report. At most 512 characters. */
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
