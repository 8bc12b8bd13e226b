import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { appendFileSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { answerOf, isSigned } from '../dist/callback.js';
import { textOf, whatsappText } from '../dist/content.js';
import {
  furtherPlaceOf,
  heraldConversationOf,
  identifierOf,
  isIdentifier,
  isPlaceOf,
  keyOf,
  metadataOf,
  targetOf,
} from '../dist/names.js';
import { settingsFrom } from '../dist/settings.js';
import { State } from '../dist/state.js';

const SECRET = 'secret';
const answer = (id, more = {}) => ({
  id,
  conversation: 1,
  heraldConversation: null,
  phone: '+15550001234',
  content: 'Hello',
  files: [],
  replyTo: null,
  attempt: 0,
  isRetry: false,
  acceptedAt: 0,
  requests: null,
  failure: null,
  ...more,
});

async function inFolder(work) {
  const folder = mkdtempSync(join(tmpdir(), 'herald-chatwoot-'));
  try {
    await work(folder, join(folder, 'state.jsonl'));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

describe('the signature', () => {
  const body = Buffer.from('{"event":"message_created"}');
  const at = 1_790_000_000;
  const signed = (timestamp, secret = SECRET) => ({
    timestamp,
    signature: `sha256=${createHmac('sha256', secret).update(`${timestamp}.${body.toString()}`).digest('hex')}`,
  });

  it('is of this body, this secret and this time', () => {
    assert.equal(isSigned(body, signed(`${at}`), SECRET, at), true);
    assert.equal(isSigned(body, signed(`${at}`), SECRET, at + 300), true);
    assert.equal(isSigned(body, signed(`${at}`), SECRET, at + 301), false);
    assert.equal(isSigned(body, signed(`${at}`), SECRET, at - 301), false);
    assert.equal(isSigned(body, signed(`${at}`, 'other'), SECRET, at), false);
    assert.equal(isSigned(Buffer.from('{}'), signed(`${at}`), SECRET, at), false);
    assert.equal(isSigned(body, { ...signed(`${at}`), timestamp: `${at + 1}` }, SECRET, at), false);
  });

  it('is refused where it is missing or of another form', () => {
    assert.equal(isSigned(body, { signature: undefined, timestamp: `${at}` }, SECRET, at), false);
    assert.equal(isSigned(body, { ...signed(`${at}`), timestamp: undefined }, SECRET, at), false);
    assert.equal(isSigned(body, signed('soon'), SECRET, at), false);
    assert.equal(isSigned(body, { signature: 'sha256=', timestamp: `${at}` }, SECRET, at), false);
  });
});

describe('a callback', () => {
  const place = { accountId: 1, inboxId: 11, now: 5 };
  const callback = (more = {}) => ({
    event: 'message_created',
    id: 9,
    content: 'Hello',
    message_type: 'outgoing',
    private: false,
    source_id: null,
    account: { id: 1 },
    inbox: { id: 11 },
    conversation: { id: 3, contact_inbox: { source_id: 'c' }, meta: { sender: { phone_number: '+1555' } } },
    ...more,
  });

  it('of an agent is an answer', () => {
    assert.deepEqual(
      answerOf(callback(), place),
      answer(9, { conversation: 3, heraldConversation: 'c', phone: '+1555', acceptedAt: 5 }),
    );
  });

  for (const [what, more] of Object.entries({
    'a private note': { private: true },
    'what a customer writes': { message_type: 'incoming' },
    'a greeting': { message_type: 'template' },
    'what the bridge wrote': { source_id: 'herald:01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b' },
    'another inbox': { inbox: { id: 12 } },
    'another account': { account: { id: 2 } },
    'another event': { event: 'conversation_updated' },
    'a deleted message': { event: 'message_updated', content_attributes: { deleted: true } },
    'no conversation': { conversation: null },
  })) {
    it(`of ${what} is none`, () => assert.equal(answerOf(callback(more), place), null));
  }

  it('that is no object is none', () => {
    for (const body of [null, 'text', 7, []]) assert.equal(answerOf(body, place), null);
  });

  it('has files by their names', () => {
    const attachments = [{ data_url: 'https://chat.example.com/rails/x/menu%20one.pdf' }, { data_url: null }];
    assert.deepEqual(answerOf(callback({ attachments }), place).files, [
      { url: 'https://chat.example.com/rails/x/menu%20one.pdf', name: 'menu one.pdf' },
    ]);
  });
});

describe('the state', () => {
  it('is what it was after a restart', () =>
    inFolder(async (folder) => {
      const state = await State.open(folder);
      await state.moveTo('place-1');
      await state.keep(answer(1));
      await state.keep(answer(2));
      await state.keep(answer(1, { failure: 'no' }));
      await state.remove(2);
      await state.markFailed(7, { attempt: 1, part: 2 });
      await state.markFailed(8, { attempt: 0, part: 1 });
      await state.markFailed(8, null);
      await state.close();
      const again = await State.open(folder);
      assert.equal(again.cursor, 'place-1');
      assert.deepEqual([...again.answers], [answer(1, { failure: 'no' })]);
      assert.equal(again.isKnown(2), true);
      assert.equal(again.isKnown(3), false);
      assert.deepEqual(again.failureOf(7), { attempt: 1, part: 2 });
      assert.equal(again.failureOf(8), null);
      await again.close();
    }));

  it('passes over a line that a kill cut off', () =>
    inFolder(async (folder, path) => {
      const state = await State.open(folder);
      await state.keep(answer(1));
      await state.close();
      appendFileSync(path, '{"answer":{"id":2,"cont');
      const again = await State.open(folder);
      assert.deepEqual(
        [...again.answers].map(({ id }) => id),
        [1],
      );
      await again.keep(answer(3));
      await again.close();
      const third = await State.open(folder);
      assert.deepEqual(
        [...third.answers].map(({ id }) => id),
        [1, 3],
      );
      await third.close();
    }));

  it('stays short, and is for its owner only', () =>
    inFolder(async (folder, path) => {
      const state = await State.open(folder);
      for (let number = 0; number < 12_000; number++) await state.moveTo(`place-${number}`);
      assert(readFileSync(path, 'utf8').split('\n').length < 6_000);
      assert.equal(statSync(path).mode & 0o777, 0o600);
      await state.close();
      const again = await State.open(folder);
      assert.equal(again.cursor, 'place-11999');
      await again.close();
    }));
});

describe('names', () => {
  const settings = { accountId: 1, chatwootUrl: 'https://chat.example.com' };
  const installed = { inboxId: 11, connectionId: 'n' };

  it('lead from an event back to the message', () => {
    const metadata = metadataOf(answer(9, { conversation: 3, attempt: 2 }), 1, 2, settings, installed);
    assert.deepEqual(targetOf(metadata, settings, installed), {
      conversation: 3,
      message: 9,
      attempt: 2,
      part: 2,
      isLast: true,
    });
    assert.equal(targetOf(metadata, settings, { ...installed, inboxId: 12 }), null);
    assert.equal(targetOf({ ...metadata, chatwoot_message: 'x' }, settings, installed), null);
    assert.equal(targetOf(null, settings, installed), null);
  });

  it('of people stay different in lower case', () => {
    assert.equal(identifierOf('DE.Ab1'), 'whatsapp:_d_e._ab1');
    assert.notEqual(identifierOf('DE.Ab1'), identifierOf('DE.aB1'));
    assert.equal(identifierOf('DE.Ab1'), identifierOf('DE.Ab1').toLowerCase());
    assert.equal(isIdentifier(identifierOf('DE.1')), true);
    for (const other of ['crm-17', '', null, undefined]) assert.equal(isIdentifier(other), false);
  });

  it('of a second contact lead to the same conversation', () => {
    const place = furtherPlaceOf('c-1');
    assert.notEqual(place, 'c-1');
    assert.equal(heraldConversationOf(place), 'c-1');
    assert.equal(isPlaceOf(place, 'c-1'), true);
    assert.equal(isPlaceOf('c-2', 'c-1'), false);
  });

  it('give a key of its own to each message, attempt and part', () => {
    const keys = [
      keyOf(answer(9), 0, settings),
      keyOf(answer(9), 1, settings),
      keyOf(answer(9, { attempt: 1 }), 0, settings),
      keyOf(answer(10), 0, settings),
    ];
    assert.equal(new Set(keys).size, 4);
    assert.equal(keyOf(answer(9), 0, settings), keys[0]);
    for (const key of keys) assert.match(key, /^[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-8[0-9a-f]{3}-[0-9a-f]{12}$/);
  });
});

describe('texts', () => {
  it('of agents become those of WhatsApp', () => {
    assert.equal(whatsappText('It is **on its way**, ~~late~~'), 'It is *on its way*, ~late~');
    assert.equal(whatsappText('one\\\ntwo'), 'one\ntwo');
    assert.equal(whatsappText('2 ** 3 ** 4'), '2 ** 3 ** 4');
    assert.equal(whatsappText('`a **b** c` **d**'), '`a **b** c` *d*');
  });

  for (const [type, body, content, text] of [
    ['text', 'Hello', { body: 'Hello' }, 'Hello'],
    ['image', null, { id: '1' }, ''],
    [
      'contacts',
      null,
      { contacts: [{ name: { formatted_name: 'Ben' }, phones: [{ phone: '+1555' }] }] },
      'Contact: Ben +1555',
    ],
    ['contacts', null, { contacts: [{ name: { formatted_name: 'Ben' } }] }, 'Contact: Ben'],
    ['reaction', '', { message_id: 'w', emoji: '' }, '(takes the reaction back)'],
    ['order', 'Quickly', { product_items: [{ quantity: 2, product_retailer_id: 'soup' }] }, 'Order\n2 × soup\nQuickly'],
    ['revoke', null, { original_message_id: 'w' }, '(withdrew the message)'],
    ['edit', 'Soup', { original_message_id: 'w' }, '(corrected) Soup'],
    ['a_new_type', null, {}, '(a_new_type)'],
  ]) {
    it(`of a customer: ${JSON.stringify([type, body])}`, () => assert.equal(textOf({ type, body, content }), text));
  }
});

describe('settings', () => {
  const env = {
    HERALD_URL: 'http://herald:3000/',
    HERALD_API_KEY: 'hrld_live_x',
    CHATWOOT_URL: 'https://chat.example.com',
    CHATWOOT_TOKEN: 't',
    CHATWOOT_ACCOUNT_ID: '1',
  };

  it('have defaults', () => {
    const settings = settingsFrom(env);
    assert.equal(settings.heraldUrl, 'http://herald:3000');
    assert.equal(settings.maxFileBytes, 40 * 1024 ** 2);
    assert.deepEqual([...settings.fileOrigins], ['https://chat.example.com']);
  });

  it('are refused all at once, without a secret', () => {
    const wrong = { ...env, CHATWOOT_ACCOUNT_ID: 'one', CHATWOOT_URL: 'ftp://x', MAX_FILE_MIB: '0', HERALD_URL: '' };
    assert.throws(
      () => settingsFrom(wrong),
      (error) => {
        for (const name of ['CHATWOOT_ACCOUNT_ID', 'CHATWOOT_URL', 'MAX_FILE_MIB', 'HERALD_URL'])
          assert.match(error.message, new RegExp(name));
        assert(!error.message.includes('hrld_live_x'));
        return true;
      },
    );
  });
});
