import { errorFields, loggable } from './log-fields.js';

describe('loggable', () => {
  it('keeps what is on the list and tells the names of the rest', () => {
    const fields = { request_id: 'abc', status: 202, body: { text: { body: 'Hello' } }, to: '+15550001234' };
    expect(loggable(fields)).toEqual({ request_id: 'abc', status: 202, left_out: ['body', 'to'] });
  });

  it("tells of an error its message, code and causes, and nothing of a driver's row", () => {
    const driver = Object.assign(new Error('duplicate key value violates unique constraint "conversation_phone"'), {
      code: '23505',
      detail: 'Key (phone)=(15550001234) already exists.',
      parameters: ['15550001234', 'a secret text'],
    });
    const error = new Error('could not be stored', { cause: driver });
    const text = JSON.stringify(loggable({ err: error }));
    expect(text).toContain('could not be stored');
    expect(text).toContain('caused by: Error: duplicate key value');
    expect(text).not.toContain('15550001234');
    expect(errorFields(driver)).toMatchObject({ type: 'Error', code: '23505' });
    expect(Object.keys(errorFields(driver))).toEqual(['type', 'message', 'stack', 'code']);
  });

  it('ends where causes go round in a circle', () => {
    const error = new Error('round');
    error.cause = error;
    expect(String(errorFields(error).stack).match(/caused by/g)).toHaveLength(5);
  });
});
