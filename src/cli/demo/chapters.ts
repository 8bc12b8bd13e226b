import { randomInt, randomUUID } from 'node:crypto';
import type { MediaLinkResponse, SingleMediaResponse } from '../../modules/media/dto/media.response.js';
import type { JournalResponse } from '../../modules/messages/dto/message.response.js';
import type { SingleOtpResponse } from '../../modules/otp/dto/otp.response.js';
import type { PreviewResponse } from '../../modules/templates/dto/templates.response.js';
import type { WebhookResponse, WebhookWithSecretResponse } from '../../modules/webhook/dto/webhook.dto.js';
import { paint } from '../output.js';
import { type Chapter, Skipped, type Stage } from './stage.js';
import { ApiError } from '../api/client.js';
import { announceReceiver } from '../../bootstrap/demo-file.js';
import { loadClientConfig } from '../../infrastructure/config/load-config.js';
import { type ReceivedEvent, WebhookReceiver } from '../webhook-receiver.js';

/** Of the demo's numbers, by what the simulator does with a message to them. */
const FAILS = '+15550100002';
const LOSES_THE_ANSWER = '+15550100005';

export const CHAPTERS: readonly Chapter[] = [
  {
    name: 'send',
    title: 'Send a message',
    intro: 'The answer is 202: stored and queued. Then each status comes as WhatsApp reports it.',
    play: async (stage) => {
      const key = randomUUID();
      const to = stage.demo.recipients[0]?.to ?? '+15550001234';
      const { id } = await stage.sendText(to, 'Your table is ready.', key);
      await stage.until(id, 'read');
      await stage.breathe();
      stage.note('The same request once more, with the same Idempotency-Key:');
      const again = await stage.sendText(to, 'Your table is ready.', key);
      stage.expect(again.id === id && again.replayed, 'the same id comes back, and nothing is sent twice');
    },
  },
  {
    name: 'retry',
    title: 'Fail on purpose, and try again',
    intro: 'At the simulator the last digits of a number select the outcome: 0002 can’t be reached.',
    play: async (stage) => {
      const { id } = await stage.sendText(FAILS, 'Are you there?');
      const failed = await stage.until(id, 'failed');
      stage.expect(failed.failure_category === 'recipient_unreachable', 'it says why: recipient_unreachable');
      await stage.breathe();
      stage.note(`POST /messages/${id}/retry`);
      await stage.api.post(`/messages/${id}/retry`, {});
      const twice = await stage.until(id, 'failed', 2);
      stage.expect(twice.attempts?.length === 2, 'it fails again, and both attempts are on record');
    },
  },
  {
    name: 'outcome-unknown',
    title: 'Lose an answer',
    intro: '0005 takes the message and cuts the line before it answers. Others would send it twice, or lose it.',
    play: loseAnAnswer,
  },
  {
    name: 'inbound',
    title: 'Answer a customer',
    intro: 'You can message only customers who wrote in the last 24 hours. Then a customer writes.',
    play: answerACustomer,
  },
  {
    name: 'template',
    title: 'Write first',
    intro: 'A customer who has not written may get an approved template. Its values are filled in.',
    play: writeFirst,
  },
  {
    name: 'file',
    title: 'Send a file',
    intro: 'Uploaded once, sent as often as you like. Its MIME type is detected from its content.',
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
    title: 'Receive webhooks',
    intro: 'Herald posts every message in and every status to your address, signed, until it is acknowledged.',
    play: receiveEvents,
  },
];

async function loseAnAnswer(stage: Stage): Promise<void> {
  const text = `Did you get this? (${randomUUID().slice(0, 8)})`;
  await stage.simulator.statuses('hold');
  let id;
  try {
    ({ id } = await stage.sendText(LOSES_THE_ANSWER, text));
    await stage.until(id, 'outcome_unknown');
    stage.expect(true, 'Herald does not know, says so, and does not send it again');
    await stage.breathe();
  } finally {
    await stage.simulator.statuses('on');
  }
  stage.note('Now WhatsApp reports the status of it, and the outcome is known:');
  await stage.until(id, 'read');
  const taken = await stage.simulator.timesTaken(LOSES_THE_ANSWER, text);
  stage.expect(taken === 1, 'the customer has it once');
}

async function answerACustomer(stage: Stage): Promise<void> {
  const customer = newCustomer();
  const tooEarly = await stage.refusal(() => stage.sendText(`+${customer}`, 'Hello?'));
  stage.expect(tooEarly === 'SERVICE_WINDOW_CLOSED', `a message to +${customer} is refused: SERVICE_WINDOW_CLOSED`);
  await stage.breathe();
  await stage.simulator.inbound(stage.demo.phone_number_id, customer, 'A table for two?');
  const question = await stage.waitFor('the customer’s message', async () => {
    const { data } = await stage.api.get<JournalResponse>('/messages', { status: 'received', limit: '20' });
    return data.find((message) => message.from === customer);
  });
  stage.note(`${paint.name('←')} +${customer}  "${question.body ?? ''}"  ${paint.faint(question.id)}`);
  await stage.breathe();
  const content = { type: 'text', text: { body: 'With pleasure.' }, reply_to_message_id: question.id };
  const { id } = await stage.send(`+${customer}`, content, 'With pleasure.');
  await stage.until(id, 'read');
  stage.expect(true, 'the window is open now, and the answer quotes the question');
}

/** A number without a contact, whose last digits select no simulated outcome. */
function newCustomer(): string {
  return `1555020${randomInt(2_000, 10_000)}`;
}

async function writeFirst(stage: Stage): Promise<void> {
  const parameters = ['Ana', '4711'];
  const { data } = await stage.api.post<PreviewResponse>(`/connections/${stage.demo.connection_id}/templates/preview`, {
    template_name: 'order_update',
    parameters: { body: parameters },
  });
  const text = data.body ?? '';
  stage.note(`preview: "${text}"`);
  const template = {
    name: 'order_update',
    language: { code: 'en_US' },
    components: [{ type: 'body', parameters: parameters.map((value) => ({ type: 'text', text: value })) }],
  };
  const { id } = await stage.send(`+${newCustomer()}`, { type: 'template', template }, text);
  await stage.until(id, 'read');
  stage.expect(true, 'a customer who has not written before has read it');
}

async function sendAFile(stage: Stage): Promise<void> {
  const menu = `Soup, bread, coffee. ${new Date().toDateString()}\n`;
  const form = new FormData();
  form.set('connection_id', stage.demo.connection_id);
  form.set('file', new Blob([menu]), 'menu.txt');
  const { data: media } = await stage.api.post<SingleMediaResponse>('/media', form);
  stage.note(`menu.txt is ${media.mime_type}, a ${media.type}  ${paint.faint(media.id)}`);
  const content = { type: media.type, media: { id: media.id, caption: 'Today' } };
  const { id } = await stage.send(stage.demo.recipients[0]?.to ?? '', content, 'menu.txt: Today');
  await stage.until(id, 'read');
  const { data: link } = await stage.api.get<MediaLinkResponse>(`/media/${media.id}/url`);
  const bytes = await (await fetch(link.url, { signal: stage.live.signal })).text();
  stage.expect(bytes === menu, 'a signed link, valid for 15 minutes, returns the same bytes');
}

async function checkANumber(stage: Stage): Promise<void> {
  const otp = stage.api.as(stage.demo.otp_sandbox_key);
  const to = `+4915112${randomInt(100_000, 1_000_000)}`;
  const key = { 'idempotency-key': `demo-${randomUUID()}` };
  const { data } = await otp.post<SingleOtpResponse>('/otp/send', { to }, key);
  const { id, test_code: code = '' } = data;
  stage.note(`${paint.name('→')} ${to}  the code is ${paint.heading(code)}`);
  const wrong = code === '000000' ? '000001' : '000000';
  const verify = (guess: string): Promise<unknown> => otp.post('/otp/verify', { id, code: guess });
  const refused = await stage.refusal(() => verify(wrong));
  stage.expect(refused === 'OTP_CODE_INCORRECT', `${wrong} is refused: OTP_CODE_INCORRECT`);
  await verify(code);
  stage.expect(true, `${code} is right`);
  stage.expect((await stage.refusal(() => verify(code))) === 'OTP_CODE_ALREADY_USED', 'and is right only once');
}

/** Sets a webhook of this command's own, receives a test event and a message's statuses, and removes it again. */
async function receiveEvents(stage: Stage): Promise<void> {
  const taken = await webhookUrl(stage);
  if (taken !== null)
    throw new Skipped(`the workspace has a webhook, ${taken}: it stays; DELETE /webhook takes it away`);
  const events: ReceivedEvent[] = [];
  const receiver = await WebhookReceiver.listen({ onEvent: (event) => events.push(event) });
  const withdraw = announceReceiver(loadClientConfig().dataDir, receiver.url);
  try {
    receiver.secret = await setWebhook(stage, receiver.url);
    await stage.api.post('/webhook/test', {});
    await stage.waitFor('the test event', () => events.find(({ type }) => type === 'webhook.test'));
    stage.expect(true, 'received a test event, signature OK');
    await stage.breathe();
    const { id } = await stage.sendText(stage.demo.recipients[0]?.to ?? '', 'Your order is on its way.');
    for (const status of ['accepted', 'sent', 'delivered', 'read']) {
      const isIt = ({ data }: ReceivedEvent): boolean => data.message_id === id && data.status === status;
      await stage.waitFor(`the event of ${status}`, () => events.find(isIt));
      stage.note(`${paint.name('⇠')} message.status.updated  ${status}  ${paint.good('signature OK')}`);
    }
    stage.expect(receiver.forged === 0, 'every signature was verified from the raw bytes');
  } finally {
    await receiver.close();
    if (receiver.secret !== null) await stage.api.call('DELETE', '/webhook').catch(() => undefined);
    withdraw();
  }
}

async function webhookUrl(stage: Stage): Promise<string | null> {
  try {
    const { data } = await stage.api.get<WebhookResponse>('/webhook');
    return data.url;
  } catch (error) {
    if (error instanceof ApiError && error.code === 'WEBHOOK_NOT_FOUND') return null;
    throw error;
  }
}

async function setWebhook(stage: Stage, url: string): Promise<string> {
  try {
    const answer = await stage.api.call<WebhookWithSecretResponse>('PUT', '/webhook', { body: { url } });
    return answer.body.data.secret ?? '';
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== 'WEBHOOK_URL_NOT_ALLOWED') throw error;
    throw new Skipped(
      'this Herald delivers to public https addresses only; the chapter needs its DATA_DIR on this machine, or a start with WEBHOOK_ALLOW_PRIVATE_TARGETS=true npm start',
    );
  }
}
