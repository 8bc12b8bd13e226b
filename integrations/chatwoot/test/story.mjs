// What `npm run test:chatwoot` of Herald plays against a running Herald, the simulator of WhatsApp, the stand-in for Chatwoot and the
// installed bridge. Messages are counted where they arrive: in the stand-in, and in the simulator.
import assert from 'node:assert/strict';
import { createHash, createHmac } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

const WITHIN_MS = 60_000;
const ROUNDS = 8;
const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);
const json = { 'content-type': 'application/json' };
const sha256 = (bytes) => createHash('sha256').update(bytes).digest('hex');

export async function waitFor(what, look) {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not come within ${WITHIN_MS / 1_000} s`);
    await sleep(50);
  }
}

/** @param world `simulator` (its address), `phoneNumberId`, `standIn`, `bridge` and `herald` with `kill` and `start`, `bridgeUrl` */
export function storyOf(world) {
  const { simulator, phoneNumberId, standIn } = world;

  const control = async (path, body) => {
    const answer = await fetch(`${simulator}/_simulator/${path}`, {
      method: 'POST',
      headers: json,
      body: JSON.stringify({ phone_number_id: phoneNumberId, ...body }),
    });
    assert.equal(answer.status, 200, await answer.clone().text());
    return answer.json();
  };
  const write = (from, message, more = {}) => control('inbound', { from, message, ...more });
  /** What WhatsApp took, oldest first. */
  const taken = async (to) => {
    const answer = await fetch(`${simulator}/_simulator/messages?limit=1000&to=${to}`);
    const { data, paging } = await answer.json();
    assert.equal(paging.has_more, false);
    return data;
  };
  const textsTo = async (to) =>
    (await taken(to)).map(({ body, message }) => (body ?? message).text?.body).filter(Boolean);
  const shown = (content) => standIn.messages.filter((message) => message.content === content);
  const only = (content) => {
    const found = shown(content);
    assert.equal(found.length, 1, `${content} is shown ${found.length} times`);
    return found[0];
  };
  const conversationWith = (phone) => {
    const contact = standIn.contacts.find(({ phone_number: number }) => number === phone);
    return standIn.conversations.find(({ contact_id: id }) => id === contact?.id);
  };
  const hear = async (from, text) => {
    await write(from, text);
    await waitFor(text, () => shown(text).length > 0);
    return only(text);
  };

  /** Counted in WhatsApp, not by what the bridge says. */
  const expectOnce = async (people, answers) => {
    for (const phone of people) {
      const texts = (await textsTo(phone)).filter((text) => text.startsWith('answer'));
      const wanted = answers.filter((answer) => answer.phone === phone).map(({ message }) => message.content);
      assert.deepEqual(texts.toSorted(), wanted.toSorted());
    }
  };

  return {
    async customerWrites() {
      const message = await hear('15550007001', 'Where is my order?');
      assert.equal(message.message_type, 0);
      const contact = standIn.contacts.find(({ phone_number: number }) => number === '+15550007001');
      assert(contact, 'there is no contact with the number');
      assert.equal(conversationWith('+15550007001').id, message.conversation_id);
      await hear('15550007001', 'And when does it come?');
      assert.equal(standIn.conversations.filter(({ contact_id: id }) => id === contact.id).length, 1);
      // A contact that the team has already is used, not doubled.
      standIn.contacts.push({ id: 7, name: 'Ben', phone_number: '+15550007002', identifier: null });
      const other = await hear('15550007002', 'I am known to you');
      assert.equal(standIn.conversations.find(({ id }) => id === other.conversation_id).contact_id, 7);
      await write('15550007001', { type: 'location', location: { latitude: 53.35, longitude: -6.26, name: 'Quay 1' } });
      await waitFor('the place', () => standIn.messages.some(({ content }) => content.includes('q=53.35,-6.26')));
    },

    async agentAnswers() {
      const { id } = conversationWith('+15550007001');
      const question = only('Where is my order?');
      const answer = standIn.answer(id, { content: 'It is **on its way**', replyTo: question.id });
      await waitFor('the answer', async () => (await textsTo('15550007001')).includes('It is *on its way*'));
      await waitFor('its status', () => answer.status === 'read');
      const [sent] = (await taken('15550007001')).slice(-1);
      assert(JSON.stringify(sent).includes('"message_id"'), 'the answer quotes nothing');
      standIn.answer(id, { content: 'Only for us', private: true });
      const last = standIn.answer(id, { content: 'Anything else?' });
      await waitFor('the second answer', () => last.status === 'read');
      // What Chatwoot's jobs repeat, and what others forge.
      const callback = standIn.callbacks.find(({ body }) => JSON.parse(body).id === answer.id);
      assert.equal(await standIn.repeat(callback), 200);
      assert.equal(await standIn.repeat({ ...callback, secret: 'another' }), 401);
      const old = String(Math.floor(Date.now() / 1_000) - 301);
      const signature = createHmac('sha256', callback.secret).update(`${old}.${callback.body}`).digest('hex');
      const headers = { 'x-chatwoot-timestamp': old, 'x-chatwoot-signature': `sha256=${signature}` };
      const stale = await fetch(callback.url, { method: 'POST', headers, body: callback.body });
      assert.equal(stale.status, 401);
      const end = standIn.answer(id, { content: 'Goodbye' });
      await waitFor('the last answer', () => end.status === 'read');
      assert.deepEqual(await textsTo('15550007001'), ['It is *on its way*', 'Anything else?', 'Goodbye']);
    },

    async filesBothWays() {
      const before = standIn.messages.length;
      await write('15550007001', { type: 'image', image: { caption: 'Look' } });
      const picture = await waitFor('the picture', () =>
        standIn.messages.slice(before).find(({ attachments }) => attachments),
      );
      assert.equal(picture.content, 'Look');
      assert.equal(picture.attachments.length, 1);
      assert.equal(picture.attachments[0].file_type, 'image');
      assert.equal(only('Look').id, picture.id);
      const media = await world.herald.latestMedia();
      assert.equal(media.sha256, picture.attachments[0].sha256, 'the bytes are others');

      const { id } = conversationWith('+15550007001');
      const sent = standIn.answer(id, {
        content: 'The menu',
        files: [
          { name: 'dish.png', type: 'image/png', bytes: PNG },
          { name: 'menu.txt', type: 'text/plain', bytes: Buffer.from('Soup\n') },
        ],
      });
      await waitFor('the files', () => sent.status === 'read');
      const kinds = (await taken('15550007001')).slice(-2).map((message) => (message.body ?? message.message).type);
      assert.deepEqual(kinds, ['image', 'document']);
      const upload = await world.herald.latestMedia('outbound', 'image');
      assert.equal(upload.sha256, sha256(PNG));

      // An address of another host would be read inside the bridge's network.
      const foreign = standIn.answer(id, {
        files: [{ name: 'x.png', type: 'image/png', bytes: PNG, url: 'http://169.254.169.254/latest/meta-data' }],
      });
      await waitFor('the refusal', () => foreign.status === 'failed');
      assert.match(foreign.content_attributes.external_error, /CHATWOOT_FILE_ORIGINS/);
      const large = standIn.answer(id, {
        files: [{ name: 'large.bin', type: 'application/pdf', bytes: Buffer.alloc(3 * 1024 ** 2) }],
      });
      await waitFor('the second refusal', () => large.status === 'failed');
      assert.match(large.content_attributes.external_error, /larger than 2 MiB/);
      await write(
        '15550007001',
        { type: 'document' },
        { file: { size_bytes: 3_000_000, mime_type: 'text/csv', filename: 'orders.csv' } },
      );
      await waitFor('the note about the large file', () =>
        standIn.messages.some(({ content }) => /document: it is larger than 2 MiB/.test(content)),
      );
    },

    async sentElsewhere() {
      await control(`numbers/${phoneNumberId}/app`, {
        action: 'send',
        to: '15550007001',
        text: 'Ana here, from the phone',
      });
      await waitFor('what staff wrote on the phone', () => shown('Ana here, from the phone').length > 0);
      assert.equal(only('Ana here, from the phone').message_type, 1);
      await standIn.settled();
      const probe = standIn.answer(conversationWith('+15550007001').id, { content: 'After the phone' });
      await waitFor('the next answer', () => probe.status === 'read');
      assert(!(await textsTo('15550007001')).includes('Ana here, from the phone'), 'it was sent again');
    },

    async closedWindow() {
      const begun = standIn.begin('+15550007003', standIn.inboxes[0].id, 'Are you there?');
      await waitFor('the refusal', () => begun.status === 'failed');
      assert.match(begun.content_attributes.external_error, /24 hours/);
      // Chatwoot announces the failed status as it announces Retry: that must send nothing.
      await standIn.settled();
      const reply = await hear('15550007003', 'Now I am');
      assert.equal(reply.conversation_id, begun.conversation_id, 'the customer has a second conversation');
      assert.deepEqual(await textsTo('15550007003'), []);
      standIn.retry(begun.id);
      await waitFor('the answer after Retry', () => begun.status === 'read');
      assert.deepEqual(await textsTo('15550007003'), ['Are you there?']);
      // WhatsApp refuses only afterwards.
      await hear('15550100002', 'I cannot be reached');
      const lost = standIn.answer(conversationWith('+15550100002').id, { content: 'Hello?' });
      await waitFor('the failure', () => lost.status === 'failed');
      assert(lost.content_attributes.external_error.length > 0);
    },

    async resolvedConversations() {
      const first = conversationWith('+15550007001');
      standIn.resolve(first.id);
      const again = await hear('15550007001', 'One more thing');
      assert.equal(again.conversation_id, first.id);
      assert.equal(first.status, 'open', 'the conversation stays resolved');

      standIn.inboxes[0].lock_to_single_conversation = false;
      await world.bridge.stop();
      await world.bridge.start();
      const same = await hear('15550007001', 'And another');
      assert.equal(same.conversation_id, first.id);
      standIn.resolve(first.id);
      const next = await hear('15550007001', 'A new matter');
      assert.notEqual(next.conversation_id, first.id);
      assert.equal(first.status, 'resolved');
      const answer = standIn.answer(next.conversation_id, { content: 'We listen' });
      await waitFor('the answer', () => answer.status === 'read');
      standIn.inboxes[0].lock_to_single_conversation = true;
      await world.bridge.stop();
      await world.bridge.start();
    },

    /** An answer that Chatwoot was told is taken arrives, however long Herald is away. */
    async heraldAway() {
      await hear('15550007004', 'Before the outage');
      const { id } = conversationWith('+15550007004');
      await world.herald.kill();
      const answers = ['one', 'two', 'three'].map((word) => standIn.answer(id, { content: `away ${word}` }));
      await standIn.settled();
      assert(
        answers.every(({ status }) => status === 'sent'),
        'an answer was not taken',
      );
      const health = await fetch(`${world.bridgeUrl}/health`);
      assert.equal((await health.json()).waiting_answers, 3);
      await world.bridge.kill();
      await world.bridge.start();
      await world.herald.start();
      await waitFor('the answers', () => answers.every(({ status }) => status === 'read'));
      assert.deepEqual(await textsTo('15550007004'), ['away one', 'away two', 'away three']);
    },

    /** Both are killed again and again while customers and agents write, and Chatwoot loses answers of its own. */
    async kills() {
      const people = ['15550007011', '15550007012', '15550007013'];
      for (const phone of people) await hear(phone, `hello from ${phone}`);
      const asked = [];
      const answers = [];
      const everyoneWrites = async (when) => {
        for (const phone of people) {
          const question = `question ${when} of ${phone}`;
          await write(phone, question);
          asked.push(question);
          const { id } = conversationWith(`+${phone}`);
          answers.push({ phone, message: standIn.answer(id, { content: `answer ${when} to ${phone}` }) });
        }
        await standIn.settled();
      };
      for (let round = 0; round < ROUNDS; round++) {
        standIn.troubles.set('create-a-new-message-in-a-conversation', { times: 2, after: round % 2 === 0 });
        standIn.troubles.set('newConversation', { times: 1, after: true });
        await everyoneWrites(`${round} before`);
        // Killed with what was just taken under way.
        const victim = round % 4 === 3 ? world.herald : world.bridge;
        await victim.kill();
        await everyoneWrites(`${round} during`);
        await victim.start();
      }
      standIn.troubles.clear();
      await waitFor('all questions', () => asked.every((text) => shown(text).length > 0));
      for (const text of asked) only(text);
      assert.equal(await world.herald.countInbound('question'), asked.length);

      const isTaken = ({ message: { id } }) =>
        standIn.callbacks.some(({ status, body }) => {
          const { event, id: own } = JSON.parse(body);
          return status === 200 && event === 'message_created' && own === id;
        });
      const accepted = answers.filter(isTaken);
      const refused = answers.filter((answer) => !isTaken(answer));
      assert.equal(refused.length, (ROUNDS - Math.floor(ROUNDS / 4)) * people.length);
      // Counted in WhatsApp: where the bridge was down for the callback of a status, Chatwoot shows a delivered answer as failed.
      // Herald that is killed between the claim and the request does not know whether it sent, and does not send again.
      const lost = new Set();
      await waitFor('the answers that were taken', async () => {
        const sent = new Set((await Promise.all(people.map(textsTo))).flat());
        const missing = accepted.filter(({ message }) => !sent.has(message.content));
        const unknown = await world.herald.unknownTexts();
        for (const { message } of missing) if (unknown.has(message.content)) lost.add(message);
        return missing.every(({ message }) => lost.has(message));
      });
      // One for each recipient is in flight at most.
      const heraldKills = Math.floor(ROUNDS / 4);
      assert(lost.size <= heraldKills * people.length, `${lost.size} answers were lost by ${heraldKills} kills`);
      const arrived = (some) => some.filter(({ message }) => !lost.has(message));
      await expectOnce(people, arrived(accepted));
      // What the bridge could not take, as it was down, Chatwoot shows as failed. The agent presses Retry.
      for (const { message } of refused) {
        assert.equal(message.status, 'failed');
        standIn.retry(message.id);
      }
      await waitFor('the other answers', () => refused.every(({ message }) => message.status === 'read'));
      await expectOnce(people, arrived(answers));
      return `${ROUNDS} kills; ${asked.length} questions, ${accepted.length} answers, ${refused.length} more by Retry: each once, ${lost.size} unknown`;
    },

    /** As after a place that Herald keeps no longer, or a lost folder: all events come once more, and show nothing twice. */
    async eventsAgain() {
      const shownNow = () =>
        standIn.messages.map(({ id, content, source_id: source, status }) => ({ id, content, source, status }));
      const before = shownNow();
      await world.bridge.stop();
      await world.bridge.goBackTo(await world.herald.firstCursor());
      await world.bridge.start();
      const last = await hear('15550007001', 'After the second reading');
      await standIn.settled();
      assert.deepEqual(
        shownNow().filter(({ id }) => id !== last.id),
        before,
      );
    },

    /** A team deletes and merges contacts, and a customer changes the number. */
    async contactsChange() {
      const first = conversationWith('+15550007004');
      standIn.remove(first.contact_id);
      const again = await hear('15550007004', 'Do you still know me?');
      assert.notEqual(again.conversation_id, first.id);
      const answer = standIn.answer(again.conversation_id, { content: 'Now we do' });
      await waitFor('the answer', () => answer.status === 'read');
    },

    /** People with a username hide their number; numbers go from one person to another. */
    async peopleAndNumbers() {
      const hidden = { user_id: 'DE.Ab1349', profile_name: 'Ana' };
      await control('inbound', { from: '15550007021', without_from: true, ...hidden, message: 'Who am I?' });
      await waitFor('the message', () => shown('Who am I?').length > 0);
      const ana = only('Who am I?').conversation_id;
      const contact = standIn.contacts.find(({ identifier }) => identifier === 'whatsapp:_d_e._ab1349');
      assert.equal(contact.phone_number, null);
      const answer = standIn.answer(ana, { content: 'Ana, we think' });
      await waitFor('the answer', () => answer.status === 'read');
      await control('inbound', { from: '15550007021', ...hidden, message: 'And this is my number' });
      await waitFor('the number', () => shown('And this is my number').length > 0);
      assert.equal(only('And this is my number').conversation_id, ana);
      await world.bridge.stop();
      await world.bridge.start();
      await control('inbound', { from: '15550007021', ...hidden, message: 'Once more' });
      await waitFor('the message after a restart', () => shown('Once more').length > 0);
      assert.equal(only('Once more').conversation_id, ana);
      assert.equal(contact.phone_number, '+15550007021');

      // Ana takes another number, and the former one goes to Ben.
      await control('identity', { from: '15550007021', new_from: '15550007022' });
      await waitFor('the news of it', () =>
        standIn.messages.some(({ conversation_id: id, content }) => id === ana && /changed/.test(content)),
      );
      await control('inbound', { from: '15550007022', message: 'My new number' });
      await waitFor('the new number', () => shown('My new number').length > 0);
      assert.equal(only('My new number').conversation_id, ana);
      // WhatsApp's times are whole seconds: in the same second the number could still be Ana's.
      const timestamp = String(Math.floor(Date.now() / 1_000) + 2);
      const message = { type: 'text', text: { body: 'I am Ben' }, timestamp };
      await control('inbound', { from: '15550007021', user_id: 'DE.777', profile_name: 'Ben', message });
      await waitFor('the next owner', () => shown('I am Ben').length > 0);
      const ben = only('I am Ben').conversation_id;
      assert.notEqual(ben, ana, 'two people share a conversation');
      const toBen = standIn.answer(ben, { content: 'For Ben alone' });
      await waitFor('the answer to Ben', () => toBen.status === 'read');
      assert.deepEqual(await textsTo('15550007021'), ['For Ben alone']);
    },

    async unknownOutcome() {
      await hear('15550100005', 'My line is bad');
      const { id } = conversationWith('+15550100005');
      const answer = standIn.answer(id, { content: 'Can you hear me?' });
      const note = await waitFor('the note', () =>
        standIn.messages.find((message) => message.conversation_id === id && message.private),
      );
      assert.match(note.content, /not known whether/);
      // WhatsApp reports it later.
      await waitFor('the outcome', () => answer.status === 'read');
      assert.deepEqual(await textsTo('15550100005'), ['Can you hear me?']);
    },

    finish() {
      assert.deepEqual(standIn.faults, [], 'requests that Chatwoot does not take');
      const uncalled = [
        'contactFilter',
        'contactCreate',
        'contactInboxCreation',
        'newConversation',
        'contactConversations',
      ];
      for (const name of uncalled) assert(standIn.calls.get(name) > 0, `${name} was not called`);
    },
  };
}
