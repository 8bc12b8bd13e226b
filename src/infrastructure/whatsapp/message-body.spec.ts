import { buildMessageBody, isSendableType, type SendableType } from './message-body.js';

function built(type: SendableType, content: Record<string, unknown>, contextMessageId: string | null = null) {
  return buildMessageBody({ to: '15550100001', type, content, contextMessageId, callbackData: 'attempt-1' });
}

describe('the body of a message', () => {
  it('names the recipient with a plus and carries the attempt', () => {
    expect(built('text', { body: 'hi' })).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: '+15550100001',
      type: 'text',
      text: { body: 'hi', preview_url: false },
      biz_opaque_callback_data: 'attempt-1',
    });
  });

  it.each<[SendableType, Record<string, unknown>, Record<string, unknown>]>([
    ['text', { body: 'hi', preview_url: true }, { body: 'hi', preview_url: true }],
    ['image', { link: 'https://e.co/a', caption: 'c' }, { link: 'https://e.co/a', caption: 'c' }],
    ['video', { id: '1', caption: 'c' }, { id: '1', caption: 'c' }],
    ['audio', { id: '1', voice: true }, { id: '1', voice: true }],
    ['audio', { id: '1', caption: 'not for audio' }, { id: '1' }],
    ['document', { id: '1', filename: 'a.pdf' }, { id: '1', filename: 'a.pdf' }],
    ['sticker', { id: '1', caption: 'not for stickers' }, { id: '1' }],
    ['template', { name: 'n', language: { code: 'en' } }, { name: 'n', language: { code: 'en' } }],
    ['interactive', { type: 'button', body: { text: 'b' } }, { type: 'button', body: { text: 'b' } }],
    ['location', { latitude: 1, longitude: 2 }, { latitude: 1, longitude: 2 }],
  ])('gives %s what the platform takes', (type, content, expected) => {
    expect(built(type, content)[type]).toEqual(expected);
  });

  it('gives contacts as the list that the platform takes', () => {
    const contacts = [{ name: { formatted_name: 'Ana' } }];
    expect(built('contacts', { contacts }).contacts).toEqual(contacts);
  });

  it('quotes the message that it answers, and puts a reaction on it', () => {
    expect(built('image', { id: '1' }, 'wamid.X')).toMatchObject({ context: { message_id: 'wamid.X' } });
    const reaction = built('reaction', { emoji: '👍' }, 'wamid.X');
    expect(reaction.reaction).toEqual({ message_id: 'wamid.X', emoji: '👍' });
    expect(reaction).not.toHaveProperty('context');
    expect(built('reaction', { emoji: '' }, 'wamid.X').reaction).toEqual({ message_id: 'wamid.X', emoji: '' });
  });

  it('knows its types and nothing else', () => {
    expect(['text', 'document', 'template', 'contacts', 'reaction'].every(isSendableType)).toBe(true);
    expect(['constructor', 'poll', ''].some(isSendableType)).toBe(false);
  });
});
