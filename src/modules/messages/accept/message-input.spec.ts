import { hash } from 'node:crypto';
import { AppError, type ErrorDetail } from '../../../common/app-error.js';
import { canonicalJson } from '../../../common/json.js';
import { VARIANT_CASES } from '../../../../test/messages/variant-cases.js';
import { fingerprintOf, readMessageInput } from './message-input.js';

const CONNECTION = '01936f6d-0a1b-7f00-8c11-5a6b7c8d9e0f';

/** As a body comes in: JSON knows no undefined. */
function received(body: Record<string, unknown>): unknown {
  return JSON.parse(JSON.stringify({ connection_id: CONNECTION, to: '+15550100001', ...body }));
}

function violationsOf(body: unknown): string[] {
  try {
    readMessageInput(body);
    return [];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    expect([error.status, error.code]).toEqual([422, 'VALIDATION_FAILED']);
    return (error.extra.details as ErrorDetail[]).map((detail) => `${detail.field}:${detail.rule}`);
  }
}

describe('reading a message', () => {
  it.each(VARIANT_CASES)('$name', ({ body, violations }) => {
    expect(violationsOf(received(body))).toEqual(violations);
  });

  it.each([null, 'x', 5, [], true])('refuses a body that is %j', (body) => {
    expect(violationsOf(body)).toEqual([':type']);
  });

  it('says where a name, a text or a voice note belongs, and that a type is missing', () => {
    const messagesOf = (body: Record<string, unknown>): string[] => {
      try {
        readMessageInput(received(body));
      } catch (error) {
        return ((error as AppError).extra.details as ErrorDetail[]).map(({ message }) => message);
      }
      return [];
    };
    const media = { link: 'https://example.com/menu.pdf' };
    expect(messagesOf({ type: 'document', media, caption: 'Menu', filename: 'menu.pdf' })).toEqual([
      'caption belongs into media: media.caption.',
      'filename belongs into media: media.filename.',
    ]);
    expect(messagesOf({ type: 'audio', media, voice: true })).toEqual(['voice belongs into media: media.voice.']);
    expect(messagesOf({})).toEqual([expect.stringMatching(/^type is missing: .*text/)]);
  });

  it('keeps what was sent, with defaults', () => {
    expect(readMessageInput(received({ type: 'text', text: { body: 'hi' }, client_message_id: 'c' }))).toEqual({
      connectionId: CONNECTION,
      recipient: '15550100001',
      type: 'text',
      content: { body: 'hi', preview_url: false },
      body: 'hi',
      clientMessageId: 'c',
      replyToMessageId: null,
      mediaObjectId: null,
    });
  });
});

describe('the fingerprint', () => {
  const valid = VARIANT_CASES.filter(({ violations }) => violations.length === 0);

  // Keys of requests that were made before an update stand with the fingerprints of their time.
  it.each(valid)('is the hash of the canonical JSON: $name', ({ body }) => {
    const plain = { client_message_id: 'a "quoted" \\ name, é', reply_to_message_id: CONNECTION.toUpperCase() };
    const timed = { send_at: '2026-11-24T10:00:00+01:00', ttl_seconds: 60 };
    for (const given of [body, { ...body, ...plain }, { ...body, ...timed }]) {
      const input = readMessageInput(received(given));
      expect(fingerprintOf(input)).toBe(hash('sha256', canonicalJson(input)));
    }
  });

  const print = (body: Record<string, unknown>): string => fingerprintOf(readMessageInput(received(body)));

  it('is the same for the same meaning', () => {
    const base = print({ type: 'text', text: { body: 'hi' } });
    expect(print({ text: { preview_url: false, body: 'hi' }, type: 'text', to: '15550100001' })).toBe(base);
    expect(print({ body: 'hi' })).toBe(base);
    expect(print({ body: 'hi', connection_id: CONNECTION.toUpperCase() })).toBe(base);
  });

  it('is the same for degrees as text and as a number', () => {
    const at = (latitude: unknown, longitude: unknown) =>
      print({ type: 'location', location: { latitude, longitude } });
    expect(at('53.3498', '-6.26')).toBe(at(53.3498, -6.26));
    expect(at(53.3498, -6.26)).not.toBe(at(53.3499, -6.26));
  });

  it('differs with every field', () => {
    const prints = [
      { body: 'hi' },
      { body: 'hi ' },
      { body: 'hi', to: '15550100002' },
      { body: 'hi', client_message_id: 'a' },
      { type: 'text', text: { body: 'hi', preview_url: true } },
      { type: 'image', media: { link: 'https://example.com/hi' } },
      { type: 'image', media: { link: 'https://example.com/hi', filename: 'hi.jpg' } },
      { type: 'image', media: { link: 'https://example.com/hi', voice: true } },
    ].map(print);
    expect(new Set(prints).size).toBe(prints.length);
  });
});
