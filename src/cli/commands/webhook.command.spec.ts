import { lineOf, progressOf } from './webhook.command.js';

describe('an event in one line', () => {
  const at = new Date('2026-11-21T08:00:00Z');

  it('of a status names the message and its status', () => {
    const line = lineOf({ type: 'message.status.updated', data: { message_id: 'a-1', status: 'read' } }, at);
    expect(line).toMatch(/message\.status\.updated +a-1 {2}read$/);
  });

  it('of a message that came names it too', () => {
    const line = lineOf({ type: 'message.received', data: { message: { id: 'b-2', status: 'received' } } }, at);
    expect(line).toMatch(/message\.received +b-2 {2}received$/);
  });

  it('of anything else shows what it has', () => {
    const data = { note: 'a test' } as object;
    expect(lineOf({ type: 'webhook.test', data }, at)).toContain('{"note":"a test"}');
  });
});

describe('how far a replay is', () => {
  const replay = { id: 'r-1', status: 'done', total: 0, done: 0 };

  it('says why nothing came where there was nothing', () => {
    expect(progressOf(replay, 'failed')).toContain(
      '0 of 0  done: no event of that time failed to arrive; --status all',
    );
    expect(progressOf(replay, 'all')).toContain('0 of 0  done: there is no event of that time');
  });

  it('is a count where there was something', () => {
    expect(progressOf({ ...replay, total: 2, done: 2 }, 'failed')).toMatch(/2 of 2 {2}done$/);
  });
});
