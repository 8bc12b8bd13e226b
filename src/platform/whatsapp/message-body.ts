/** The content of each kind of message that can be sent, by type. */
export interface MessageContents {
  readonly text: { readonly body: string; readonly preview_url?: boolean | undefined };
}

export type SendableType = keyof MessageContents;

export interface MessageBodyInput<T extends SendableType = SendableType> {
  /** Digits without `+`. */
  readonly to: string;
  readonly type: T;
  readonly content: MessageContents[T];
  /** The platform's id of the message that this one answers. */
  readonly contextMessageId?: string | null | undefined;
  /** Comes back with every status of the message: the attempt's id. At most 512 characters. */
  readonly callbackData: string;
}

/** The platform's object for each type. A further type is one row here and one in `MessageContents`. */
const VARIANTS: { readonly [T in SendableType]: (content: MessageContents[T]) => Record<string, unknown> } = {
  text: ({ body, preview_url }) => ({ body, preview_url: preview_url ?? false }),
};

/** The Cloud API's JSON for one message. */
export function buildMessageBody<T extends SendableType>(input: MessageBodyInput<T>): Record<string, unknown> {
  const { to, type, content, contextMessageId, callbackData } = input;
  return {
    messaging_product: 'whatsapp',
    recipient_type: 'individual',
    // Without the `+` the platform puts the sender's country code in front.
    to: `+${to}`,
    type,
    [type]: VARIANTS[type](content),
    ...(typeof contextMessageId === 'string' && { context: { message_id: contextMessageId } }),
    biz_opaque_callback_data: callbackData,
  };
}
