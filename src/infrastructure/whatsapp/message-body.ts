type Content = Readonly<Record<string, unknown>>;

/** Fields of media that WhatsApp accepts besides the file, by type; it would refuse others. */
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

/** WhatsApp's object for each type that can be sent. */
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
  /** The business-scoped user id, if the message is addressed to one instead of a number. */
  readonly userId?: string | null;
  readonly type: SendableType;
  /** The type's object as it is stored. */
  readonly content: Content;
  /** WhatsApp's id of the message that this one replies to, or reacts to. */
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
    // Without the `+` WhatsApp would prepend the sender's country code.
    ...(input.userId ? { recipient: input.userId } : { to: `+${to}` }),
    type,
    [type]: VARIANTS[type](content, contextMessageId),
    // A reaction contains its message's id; every other reply quotes the message.
    ...(contextMessageId !== null && type !== 'reaction' && { context: { message_id: contextMessageId } }),
    biz_opaque_callback_data: callbackData,
  };
}
