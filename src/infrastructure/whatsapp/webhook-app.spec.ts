import { readEcho, readHistory } from './webhook-app.js';

const OWN = '15550783881';
const metadata = { display_phone_number: `+${OWN}`, phone_number_id: '2' };
const text = { timestamp: '1', type: 'text', text: { body: 'x' } };

describe('a message of the app', () => {
  it('is read with what it says', () => {
    expect(readEcho({ from: OWN, to: '34600', to_user_id: 'ES.1', id: 'wamid.A', ...text }, '2')).toEqual({
      phoneNumberId: '2',
      metaMessageId: 'wamid.A',
      contact: '34600',
      userId: 'ES.1',
      occurredAt: new Date(1_000),
      type: 'text',
      content: { body: 'x' },
      body: 'x',
      contextMessageId: null,
    });
  });

  it.each([
    [{ to: '34600', ...text }, 'a message without an id'],
    [{ id: 'wamid.A', ...text }, 'a message without a recipient'],
    [{ id: 'wamid.A', to: 'Y2FwaV9ncm91cDox', ...text }, 'a message without a recipient'],
  ])('is refused in words where it is incomplete: %j', (raw, words) => {
    expect(readEcho(raw, '2')).toBe(words);
  });
});

describe('a history', () => {
  const received = { from: '34600', id: 'wamid.A', ...text, history_context: { status: 'READ' } };
  const sent = { from: OWN, to: '34600', id: 'wamid.B', ...text, history_context: { status: 'DELIVERED' } };

  it('is read in both directions, with its progress', () => {
    const threads = [{ id: '34600', messages: [received, sent, { id: 'wamid.C' }, 'none', { from: '1' }] }];
    const part = readHistory({
      metadata,
      history: [{ metadata: { phase: 0, chunk_order: 1, progress: 55 }, threads }],
    });
    expect(part).toMatchObject({ progress: 55, isDeclined: false, unreadable: 2 });
    expect(part.messages).toMatchObject([
      { metaMessageId: 'wamid.A', direction: 'inbound', contact: '34600', phoneNumberId: '2' },
      { metaMessageId: 'wamid.B', direction: 'outbound', contact: '34600', status: 'delivered' },
      { metaMessageId: 'wamid.C', direction: 'inbound', contact: '34600', type: 'unknown' },
    ]);
  });

  it.each([
    ['SENT', 'sent'],
    ['delivered', 'delivered'],
    ['PLAYED', 'read'],
    ['PENDING', 'sent'],
    ['ERROR', 'failed'],
    ['LATER', 'sent'],
  ])('has the status %s, which is %s', (status, read) => {
    const messages = [{ ...sent, to: undefined, from: '1', history_context: { status, from_me: true } }];
    expect(readHistory({ metadata, history: [{ threads: [{ id: 'ES.1', messages }] }] }).messages).toMatchObject([
      { status: read, direction: 'outbound', contact: null, userId: 'ES.1' },
    ]);
  });

  it('has files by themselves, and may be declined', () => {
    const image = { type: 'image', image: { id: '7', url: 'https://x' } };
    expect(readHistory({ metadata, messages: [{ ...received, ...image }] }).messages).toMatchObject([
      { metaMessageId: 'wamid.A', type: 'image', content: { id: '7' }, contact: '34600' },
    ]);
    expect(readHistory({ metadata, history: [{ errors: [{ code: 2593109 }] }] })).toEqual({
      messages: [],
      progress: null,
      isDeclined: true,
      unreadable: 0,
    });
  });
});
