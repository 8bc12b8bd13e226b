import { randomInt, randomUUID } from 'node:crypto';
import type { Single } from '../api/message.js';
import type { ApiMedia } from '../api/send.js';
import { paint } from '../style.js';
import { newCustomer } from './message-chapters.js';
import type { Chapter, Stage } from './stage.js';
import { beTold } from './webhook-chapter.js';

export const MORE_CHAPTERS: readonly Chapter[] = [
  {
    name: 'template',
    title: 'Write first',
    intro: 'To somebody who has not written, an approved template may go. Its values are filled in.',
    play: writeFirst,
  },
  {
    name: 'file',
    title: 'Send a file',
    intro: 'Uploaded once, sent as often as you like. Its type is told from its bytes.',
    play: sendAFile,
  },
  {
    name: 'code',
    title: 'Check a phone number',
    intro: 'A sandbox key sends nothing and answers with the code; a live one sends it over WhatsApp.',
    play: checkANumber,
  },
  {
    name: 'webhook',
    title: 'Be told',
    intro: 'Herald posts every message in and every status to your address, signed, until it is acknowledged.',
    play: beTold,
  },
];

async function writeFirst(stage: Stage): Promise<void> {
  const parameters = ['Ana', '4711'];
  const { data } = await stage.api.post<Single<{ body: string }>>(
    `/connections/${stage.demo.connection_id}/templates/preview`,
    { template_name: 'order_update', parameters: { body: parameters } },
  );
  stage.note(`preview: "${data.body}"`);
  const template = {
    name: 'order_update',
    language: { code: 'en_US' },
    components: [{ type: 'body', parameters: parameters.map((text) => ({ type: 'text', text })) }],
  };
  const { id } = await stage.send(`+${newCustomer()}`, { type: 'template', template }, data.body);
  await stage.until(id, 'read');
  stage.expect(true, 'a stranger has read it');
}

async function sendAFile(stage: Stage): Promise<void> {
  const menu = `Soup, bread, coffee. ${new Date().toDateString()}\n`;
  const form = new FormData();
  form.set('connection_id', stage.demo.connection_id);
  form.set('file', new Blob([menu]), 'menu.txt');
  const { data: media } = await stage.api.post<Single<ApiMedia>>('/media', form);
  stage.note(`menu.txt is ${media.mime_type}, a ${media.type}  ${paint.faint(media.id)}`);
  const content = { type: media.type, media: { id: media.id, caption: 'Today' } };
  const { id } = await stage.send(stage.demo.recipients[0]?.to ?? '', content, 'menu.txt: Today');
  await stage.until(id, 'read');
  const { data: link } = await stage.api.get<Single<{ url: string }>>(`/media/${media.id}/url`);
  const bytes = await (await fetch(link.url, { signal: stage.live.signal })).text();
  stage.expect(bytes === menu, 'a signed link, good for 15 minutes, brings the same bytes back');
}

async function checkANumber(stage: Stage): Promise<void> {
  const otp = stage.api.as(stage.demo.otp_sandbox_key);
  const to = `+4915112${randomInt(100_000, 1_000_000)}`;
  const key = { 'idempotency-key': `demo-${randomUUID()}` };
  const { data } = await otp.post<Single<{ id: string; test_code: string }>>('/otp/send', { to }, key);
  const { id, test_code: code } = data;
  stage.note(`${paint.name('→')} ${to}  the code is ${paint.heading(code)}`);
  const wrong = code === '000000' ? '000001' : '000000';
  const verify = (guess: string): Promise<unknown> => otp.post('/otp/verify', { id, code: guess });
  const refused = await stage.refusal(() => verify(wrong));
  stage.expect(refused === 'OTP_CODE_INCORRECT', `${wrong} is refused: OTP_CODE_INCORRECT`);
  await verify(code);
  stage.expect(true, `${code} is right`);
  stage.expect((await stage.refusal(() => verify(code))) === 'OTP_CODE_ALREADY_USED', 'and is right only once');
}
