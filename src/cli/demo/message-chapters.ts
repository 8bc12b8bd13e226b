import { randomInt, randomUUID } from 'node:crypto';
import type { ApiMessage, Page, Single } from '../api/message.js';
import { paint } from '../style.js';
import type { Chapter, Stage } from './stage.js';

/** Of the demo's numbers, by what the simulator does with a message to them. */
const FAILS = '+15550100002';
const LOSES_THE_ANSWER = '+15550100005';

export const MESSAGE_CHAPTERS: readonly Chapter[] = [
  {
    name: 'send',
    title: 'Send a message',
    intro: 'The answer is 202: stored and queued. Then each status comes as WhatsApp tells of it.',
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
    intro: 'At the simulator the last digits of a number choose its fate: 0002 can’t be reached.',
    play: async (stage) => {
      const { id } = await stage.sendText(FAILS, 'Anybody there?');
      const failed = await stage.until(id, 'failed');
      stage.expect(failed.failure_category === 'recipient_unreachable', 'it says why: recipient_unreachable');
      await stage.breathe();
      stage.note(`POST /messages/${id}/retry`);
      await stage.api.post<Single<ApiMessage>>(`/messages/${id}/retry`, {});
      const twice = await stage.until(id, 'failed', 2);
      stage.expect(twice.attempts.length === 2, 'it fails again, and both attempts are on record');
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
    intro: 'Nobody may be written to who has not written in the last 24 hours. Then somebody does.',
    play: answerACustomer,
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
  stage.note('Now WhatsApp tells what became of it, and the doubt is settled:');
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
    const { data } = await stage.api.get<Page<ApiMessage>>('/messages', { status: 'received', limit: '20' });
    return data.find((message) => message.from === customer);
  });
  stage.note(`${paint.name('←')} +${customer}  "${question.body ?? ''}"  ${paint.faint(question.id)}`);
  await stage.breathe();
  const content = { type: 'text', text: { body: 'With pleasure.' }, reply_to_message_id: question.id };
  const { id } = await stage.send(`+${customer}`, content, 'With pleasure.');
  await stage.until(id, 'read');
  stage.expect(true, 'the window is open now, and the answer quotes the question');
}

/** A number of nobody's whose last digits choose no special fate. */
export function newCustomer(): string {
  return `1555020${randomInt(2_000, 10_000)}`;
}
