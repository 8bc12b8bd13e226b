import type { components } from './schema.js';

type Schemas = components['schemas'];

/** What a customer sends, by its `type`. */
interface Forms {
  text: Schemas['ReceivedText'];
  image: Schemas['ReceivedFile'];
  video: Schemas['ReceivedFile'];
  audio: Schemas['ReceivedFile'];
  document: Schemas['ReceivedFile'];
  sticker: Schemas['ReceivedFile'];
  location: Schemas['ReceivedLocation'];
  contacts: Schemas['ReceivedContacts'];
  button: Schemas['ReceivedButton'];
  interactive: Schemas['ReceivedInteractive'];
  reaction: Schemas['ReceivedReaction'];
  order: Schemas['ReceivedOrder'];
  system: Schemas['ReceivedSystem'];
  unsupported: Schemas['ReceivedUnsupported'];
}

/** `type` distinguishes the forms; `other` is what has none, with WhatsApp's own word in `name`: more kinds will come. */
export type ReceivedContent =
  | { [Type in keyof Forms]: { type: Type; content: Forms[Type] } }[keyof Forms]
  | { type: 'other'; name: string; content: Schemas['ReceivedOther'] };

/** What the content of each form has for certain. Content without it is `other`: WhatsApp has sent something new. */
const HAS: Readonly<Record<keyof Forms, string>> = {
  text: 'body',
  image: 'id',
  video: 'id',
  audio: 'id',
  document: 'id',
  sticker: 'id',
  location: 'latitude',
  contacts: 'contacts',
  button: 'text',
  interactive: 'type',
  reaction: 'message_id',
  order: 'product_items',
  system: 'body',
  unsupported: 'errors',
};

/**
 * The content of a received message by its type, for `switch (received.type)`: of the `data` of `message.received`, or of
 * a message of the API. Never throws, whatever comes.
 */
export function receivedContent(
  received:
    | { message: { type: string }; content: Record<string, unknown> }
    | { type: string; content: Record<string, unknown> },
): ReceivedContent {
  const { type: name } = 'message' in received ? received.message : received;
  const { content } = received;
  const known = Object.hasOwn(HAS, name) && HAS[name as keyof Forms] in content;
  return (known ? { type: name, content } : { type: 'other', name, content }) as ReceivedContent;
}
