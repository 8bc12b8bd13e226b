import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { deflateSync, crc32 } from 'node:zlib';
import { waitFor } from '../../support/wait-for.js';
import { describeConsole, PATIENCE_MS } from './rig.js';

/** A picture of one colour. */
function picture(width: number, height: number): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const named = Buffer.concat([Buffer.from(type), data]);
    const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
    length.writeUInt32BE(data.length);
    sum.writeUInt32BE(crc32(named));
    return Buffer.concat([length, named, sum]);
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt16BE(0x0802, 8);
  const line = Buffer.concat([Buffer.alloc(1), Buffer.alloc(width * 3, 140)]);
  const lines = Buffer.concat(Array.from({ length: height }, () => line));
  return Buffer.concat([
    Buffer.from([137, 80, 78, 71, 13, 10, 26, 10]),
    chunk('IHDR', header),
    chunk('IDAT', deflateSync(lines)),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}

const PNG = picture(320, 200);
let made = 0;
const newCustomer = (): string => `+1555010${String(7_000 + ++made)}`;

interface Conversation {
  id: string;
  unread_count: number;
  closed: boolean;
  assignee: string | null;
}
interface Sent {
  id: string;
  type: string;
  body: string | null;
  direction: string;
  reply_to_message_id: string | null;
  media_object_id: string | null;
}

describeConsole('support in the console', (rig) => {
  const writes = (from: string, message: unknown, more: object = {}) =>
    rig.simulate('inbound', { phone_number_id: rig.demo.phone_number_id, from, profile_name: 'Ana', message, ...more });
  const conversationOf = (phone: string) =>
    waitFor(async () => (await rig.call<Conversation[]>('GET', `/conversations?to=${phone.slice(1)}`))[0], {
      what: 'the conversation',
    });
  const sentTo = (phone: string) => rig.call<Sent[]>('GET', `/messages?to=${phone.slice(1)}&limit=100`);
  const open = async (page: Page, phone: string): Promise<void> => {
    const { id } = await conversationOf(phone);
    await page.goto(`${rig.demo.base_url}/console/conversations/${id}`);
    await page.locator('.thread .bubble').first().waitFor();
  };
  const isLoaded = (page: Page, place: string) =>
    waitFor(() => page.evaluate<boolean>(`document.querySelector('${place}')?.naturalWidth > 0`), {
      what: 'the picture',
    });

  it(
    'shows pictures, sound, films and documents, larger on click, and saves them; on the page of the message too',
    () =>
      rig.visit({}, async (page) => {
        const phone = newCustomer();
        await writes(
          phone,
          { type: 'image', image: { caption: 'It arrived like this' } },
          { file: { base64: PNG.toString('base64'), mime_type: 'image/png' } },
        );
        const pdf = Buffer.from('%PDF-1.4\n%%EOF\n').toString('base64');
        await writes(
          phone,
          { type: 'document', document: { filename: 'invoice.pdf' } },
          { file: { base64: pdf, mime_type: 'application/pdf' } },
        );
        await writes(phone, { type: 'audio', audio: { voice: true } });
        await writes(phone, { type: 'video', video: {} });
        await open(page, phone);
        await isLoaded(page, '.thread .message-file img');
        for (const one of ['audio', 'video']) await page.locator(`.thread .message-file ${one}`).waitFor();
        await page
          .locator('.thread .bubble', { hasText: 'invoice.pdf' })
          .getByRole('button', { name: 'Open' })
          .waitFor();
        await page.getByRole('button', { name: 'Larger: image' }).click();
        const dialog = page.getByRole('dialog');
        await isLoaded(page, '.media-dialog img');
        const [download] = await Promise.all([
          page.waitForEvent('download'),
          dialog.getByRole('button', { name: 'Save' }).click(),
        ]);
        expect(readFileSync(await download.path()).equals(PNG)).toBe(true);
        await dialog.getByRole('button', { name: 'Close' }).click();
        await page.locator('.thread .bubble', { hasText: 'It arrived like this' }).locator('.meta-link').click();
        await isLoaded(page, '.panel .message-file img');
      }),
    2 * PATIENCE_MS,
  );

  it(
    'says that a file is not kept any more',
    () =>
      rig.visit({ quiet: true }, async (page) => {
        const phone = newCustomer();
        await writes(phone, { type: 'image', image: {} });
        await conversationOf(phone);
        await page.route('**/api/v1/media/*', (route) =>
          route.fulfill({ status: 404, json: { error: { code: 'MEDIA_NOT_FOUND', message: '', request_id: 'r' } } }),
        );
        await open(page, phone);
        await page.locator('.thread .message-file', { hasText: 'The file is not kept any more.' }).waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'sends a file that is attached, pasted or dropped, with its text',
    () =>
      rig.visit({}, async (page) => {
        const phone = newCustomer();
        await writes(phone, 'Which table is it?');
        await open(page, phone);
        const words = page.getByLabel('Answer', { exact: true });
        await page.getByLabel('Attach a file').setInputFiles({ name: 'table.png', mimeType: 'image/png', buffer: PNG });
        await page.locator('.composer-line', { hasText: 'image/png' }).waitFor();
        await words.fill('This one');
        await page.keyboard.press('Enter');
        await page.locator('.thread .bubble.is-mine', { hasText: 'This one' }).waitFor();
        await page.locator('.composer-line').waitFor({ state: 'detached' });
        expect(await words.inputValue()).toBe('');

        const event = (kind: 'paste' | 'drop', place: string) =>
          page.evaluate(`{
            const data = new DataTransfer();
            const bytes = Uint8Array.from(atob('${PNG.toString('base64')}'), (one) => one.charCodeAt(0));
            data.items.add(new File([bytes], 'shot.png', { type: 'image/png' }));
            const options = { bubbles: true, cancelable: true, clipboardData: data, dataTransfer: data };
            const made = '${kind}' === 'paste' ? new ClipboardEvent('paste', options) : new DragEvent('drop', options);
            document.querySelector('${place}').dispatchEvent(made);
          }`);
        for (const [kind, place] of [
          ['paste', '.composer textarea'],
          ['drop', '.thread-chat'],
        ] as const) {
          await event(kind, place);
          await page.locator('.composer-line', { hasText: 'image/png' }).waitFor();
          await page.getByRole('button', { name: 'Answer' }).click();
          await page.locator('.composer-line').waitFor({ state: 'detached' });
        }
        const sent = await waitFor(async () => {
          const all = await sentTo(phone);
          return all.length === 3 && all;
        });
        expect(sent.map(({ type, body }) => [type, body])).toEqual([
          ['image', null],
          ['image', null],
          ['image', 'This one'],
        ]);
        await isLoaded(page, '.thread .bubble.is-mine img');
        // One that is taken out again is not sent.
        await event('drop', '.thread-chat');
        await page.getByLabel('Remove the file').click();
        expect(await page.getByRole('button', { name: 'Answer' }).isDisabled()).toBe(true);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'quotes a message, and reacts to it',
    () =>
      rig.visit({}, async (page) => {
        const phone = newCustomer();
        await writes(phone, 'Is eight o’clock fine?');
        await open(page, phone);
        const theirs = page.locator('.in-thread:not(.is-mine)', { hasText: 'Is eight o’clock fine?' });
        await theirs.hover();
        await theirs.getByLabel('Reply').click();
        await page.locator('.composer-line', { hasText: 'Is eight o’clock fine?' }).waitFor();
        // The field has the focus.
        await page.keyboard.type('It is.');
        await page.keyboard.press('Enter');
        const mine = page.locator('.in-thread.is-mine', { hasText: 'It is.' });
        await mine.locator('.quoted', { hasText: 'Is eight o’clock fine?' }).waitFor();
        const [answer] = await sentTo(phone);
        const [question] = await rig.list(`from=${phone.slice(1)}`);
        expect(answer?.reply_to_message_id).toBe(question?.id);
        await theirs.hover();
        await theirs.getByLabel('React', { exact: true }).click();
        await theirs.getByLabel('React with 👍').click();
        await theirs.locator('.reactions', { hasText: '👍' }).waitFor();
        await theirs.hover();
        await theirs.getByLabel('React', { exact: true }).click();
        await theirs.getByLabel('Take the reaction back').click();
        await theirs.locator('.reactions').waitFor({ state: 'detached' });
        expect((await sentTo(phone)).map(({ type }) => type)).toEqual(['reaction', 'reaction', 'text']);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'sends a template to one who never wrote, who stands under All only',
    () =>
      rig.visit({}, async (page) => {
        const phone = newCustomer();
        const hello = { name: 'hello_world', language: 'en_US' };
        const to = { connection_id: rig.demo.connection_id, to: phone };
        await rig.call('POST', '/messages', { ...to, type: 'template', template: hello });
        await page.goto(`${rig.demo.base_url}/console/conversations`);
        await page.locator('.conversation-row').first().waitFor();
        const row = page.locator('.conversation-row', { hasText: phone });
        expect(await row.count()).toBe(0);
        await page.getByRole('link', { name: 'Unread', exact: true }).click();
        await page.locator('.tabs [aria-current]', { hasText: 'Unread' }).waitFor();
        expect(await row.count()).toBe(0);
        await page.getByRole('link', { name: 'All', exact: true }).click();
        await row.click();
        await page.getByText('Only a template can be sent.').waitFor();
        await page.getByRole('button', { name: 'Send a template' }).click();
        const dialog = page.getByRole('dialog');
        const option = dialog.getByRole('option', { name: /order_update/ }).first();
        await option.waitFor({ state: 'attached' });
        await dialog.locator('select').selectOption((await option.getAttribute('value')) ?? '');
        expect(await dialog.getByRole('button', { name: 'Send' }).isDisabled()).toBe(true);
        expect(await dialog.locator('.check-line').count()).toBe(0);
        await dialog.getByLabel('body 1').fill('Ben');
        await dialog.getByLabel('body 2').fill('4711');
        await dialog.locator('.bubble', { hasText: 'Ben' }).waitFor();
        await dialog.getByRole('button', { name: 'Send' }).click();
        await dialog.waitFor({ state: 'detached' });
        await page.locator('.thread .bubble.is-mine', { hasText: '4711' }).waitFor();
      }),
    2 * PATIENCE_MS,
  );

  it(
    'marks as read with the answer, unless that is turned off, which is remembered',
    () =>
      rig.visit({}, async (page) => {
        const [first, second] = [newCustomer(), newCustomer()];
        await writes(first, 'Hello');
        await writes(second, 'Hello');
        await open(page, first);
        const answer = async (): Promise<void> => {
          await page.getByLabel('Answer', { exact: true }).fill('Hello!');
          await page.keyboard.press('Enter');
          await page.locator('.thread .bubble.is-mine', { hasText: 'Hello!' }).waitFor();
        };
        await answer();
        await page.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
        expect((await conversationOf(first)).unread_count).toBe(0);
        await page.getByRole('switch', { name: 'Answering marks as read' }).uncheck();
        await open(page, second);
        expect(await page.getByRole('switch').isChecked()).toBe(false);
        await answer();
        await page.getByRole('button', { name: 'Mark as read' }).click();
        await page.getByRole('button', { name: 'Mark as read' }).waitFor({ state: 'detached' });
        expect((await conversationOf(second)).unread_count).toBe(0);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'keeps what is written, attached and quoted while an answer is on its way',
    () =>
      rig.visit({}, async (page) => {
        const phone = newCustomer();
        await writes(phone, 'First question');
        await writes(phone, 'Second question');
        await open(page, phone);
        let go: () => void = () => undefined;
        const held = new Promise<void>((resolve) => (go = resolve));
        await page.route('**/api/v1/messages', async (route) => {
          if (route.request().method() === 'POST') await held;
          await route.continue();
        });
        const quote = async (text: string): Promise<void> => {
          const theirs = page.locator('.in-thread:not(.is-mine)', { hasText: text });
          await theirs.hover();
          await theirs.getByLabel('Reply').click();
          await page.locator('.composer-line', { hasText: text }).waitFor();
        };
        await quote('First question');
        const words = page.getByLabel('Answer', { exact: true });
        await words.fill('The first.');
        await page.keyboard.press('Enter');
        await page.getByRole('button', { name: 'Answer', disabled: true }).waitFor();
        await quote('Second question');
        await page
          .locator('.composer-tools input')
          .setInputFiles({ name: 'a.png', mimeType: 'image/png', buffer: PNG });
        await page.locator('.media-line').waitFor();
        await words.press('End');
        await page.keyboard.type('And the second');
        go();
        await page.locator('.thread .bubble.is-mine', { hasText: 'The first.' }).waitFor();
        await waitFor(async () => (await words.inputValue()) !== 'The first.And the second');
        expect(await words.inputValue()).toBe('And the second');
        await page.locator('.composer-line', { hasText: 'Second question' }).waitFor();
        await page.keyboard.press('Enter');
        await page.locator('.thread .bubble.is-mine', { hasText: 'And the second' }).waitFor();
        await page.locator('.composer-line').first().waitFor({ state: 'detached' });
        const [second, first] = await sentTo(phone);
        const questions = await rig.list(`from=${phone.slice(1)}`);
        expect([first?.reply_to_message_id, second?.reply_to_message_id]).toEqual([questions[1]?.id, questions[0]?.id]);
        expect([first?.media_object_id, typeof second?.media_object_id]).toEqual([null, 'string']);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'leaves open what is opened right after typing in the search',
    () =>
      rig.visit({}, async (page) => {
        const phone = newCustomer();
        await writes(phone, 'Hello');
        const { id } = await conversationOf(phone);
        await page.goto(`${rig.demo.base_url}/console/conversations`);
        const row = page.locator('.conversation-row', { hasText: phone });
        await row.waitFor();
        await page.clock.install();
        await page.clock.pauseAt(Date.now() + 60_000);
        await page.getByLabel('Search by name or number').fill(phone.slice(-4));
        await row.click();
        await page.waitForURL(`**/conversations/${id}*`);
        await page.clock.runFor(1_000);
        await page.waitForURL('**search=*');
        expect(page.url()).toContain(`/conversations/${id}?`);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'is an inbox: what waits, until it is answered or closed; assigned; found by name and number',
    () =>
      rig.visit({}, async (page) => {
        const phone = newCustomer();
        await writes(phone, 'Where is my order?', { profile_name: 'Zoë Çelik' });
        await conversationOf(phone);
        await page.goto(`${rig.demo.base_url}/console/conversations`);
        const row = page.locator('.conversation-row', { hasText: phone });
        await row.click();
        await page.getByLabel('Assigned to').fill('ana@example.com');
        await page.keyboard.press('Enter');
        await row.locator('.assignee', { hasText: 'ana@example.com' }).waitFor();
        await page.getByRole('button', { name: 'Close conversation' }).click();
        await row.waitFor({ state: 'detached' });
        await page.getByRole('button', { name: 'Open again' }).waitFor();
        expect(await conversationOf(phone)).toMatchObject({ closed: true, assignee: 'ana@example.com' });
        // Who writes again is back.
        await writes(phone, 'Hello?', { profile_name: 'Zoë Çelik' });
        await row.waitFor();
        await page.getByRole('button', { name: 'Close conversation' }).waitFor();
        await page.getByLabel('Answer', { exact: true }).fill('On its way.');
        await page.keyboard.press('Enter');
        await row.waitFor({ state: 'detached' });
        const search = page.getByLabel('Search by name or number');
        for (const text of ['zoe', 'CELIK', phone.slice(-4), phone]) {
          await search.fill(text);
          await row.waitFor();
          expect(page.url()).toContain('search=');
        }
        await search.fill('zoex');
        await page.getByText('No conversation matches').waitFor();
        await search.fill('…');
        await page.getByText('Write the beginning of a name').waitFor();
        await page.getByRole('link', { name: 'Open', exact: true }).click();
        await page.locator('.conversation-row').first().waitFor();
        expect(await search.inputValue()).toBe('');
        await page.getByRole('link', { name: 'All', exact: true }).click();
        await page.getByLabel('Anyone').selectOption('ana@example.com');
        await row.waitFor();
        expect(await page.locator('.conversation-row').count()).toBe(1);
      }),
    2 * PATIENCE_MS,
  );

  it(
    'has no serious fault of accessibility, wide and narrow, light and dark',
    async () => {
      const phone = newCustomer();
      await writes(phone, 'Look at this');
      await writes(
        phone,
        { type: 'image', image: { caption: 'Here' } },
        { file: { base64: PNG.toString('base64'), mime_type: 'image/png' } },
      );
      await writes(phone, { type: 'document', document: { filename: 'a-long-name-of-a-file-that-was-sent.txt' } });
      await rig.visitEach(async (page) => {
        await open(page, phone);
        await isLoaded(page, '.thread .message-file img');
        await page.locator('.thread .bubble', { hasText: 'a-long-name' }).getByText('bytes').waitFor();
        const theirs = page.locator('.in-thread', { hasText: 'Look at this' });
        await theirs.getByLabel('Reply').focus();
        await page.keyboard.press('Enter');
        await theirs.getByLabel('React', { exact: true }).focus();
        await page.keyboard.press('Enter');
        await page.locator('.emojis').waitFor();
        await rig.expectAccessible(page);
        await page.getByRole('button', { name: 'Larger: image' }).click();
        await isLoaded(page, '.media-dialog img');
        await rig.expectAccessible(page);
        await page.keyboard.press('Escape');
        await page.getByRole('button', { name: 'Send a template' }).click();
        await page
          .getByRole('option', { name: /order_update/ })
          .first()
          .waitFor({ state: 'attached' });
        await rig.expectAccessible(page);
      });
    },
    6 * PATIENCE_MS,
  );
});
