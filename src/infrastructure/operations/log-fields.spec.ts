import { errorFields, loggable, maskSecrets } from './log-fields.js';

describe('loggable', () => {
  it('keeps what is on the list and names the rest', () => {
    const fields = { request_id: 'abc', status: 202, body: { text: { body: 'Hello' } }, to: '+15550001234' };
    expect(loggable(fields)).toEqual({ request_id: 'abc', status: 202, left_out: ['body', 'to'] });
  });

  it("logs an error's message, code and causes, and nothing of a driver's row", () => {
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

describe('maskSecrets', () => {
  it.each([
    [
      'a key',
      'sent hrld_live_0123456789ab_abcdefghijklmnopqrstuvwxyzABCDEF012345 twice',
      'sent hrld_live_0123456789ab_*** twice',
    ],
    ['a setup link', 'GET /setup/hrld_setup_abc-DEF_0123456789 of it', 'GET /setup/hrld_setup_*** of it'],
    ['a cut key', '"hrld_test_0123"', '"hrld_test_0123_***"'],
    ['a signing secret', 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw=', 'whsec_***'],
    ['a token of the platform', 'Bearer EAAGm0PX4ZCpsBAKZCZBabcdef0123', 'Bearer EAA***'],
    ['a bearer of another kind', 'authorization: Bearer abc.DEF-123_456', 'authorization: Bearer ***'],
    [
      'a password',
      'connect to postgres://herald:s3cr3t@db:5432/herald',
      'connect to postgres://herald:***@db:5432/herald',
    ],
    [
      'a proof',
      '/media/x/content?expires=1&signature=abcdefghijklmnopqrst',
      '/media/x/content?expires=1&signature=***',
    ],
    ['a number', 'to +4915112345678.', 'to +***78.'],
    ['a number without its plus', '{"msg":"recipient 15550001234 is none"}', '{"msg":"recipient ***34 is none"}'],
    ['two of them', 'whsec_abc whsec_def', 'whsec_*** whsec_***'],
  ])('masks %s', (_name, line, masked) => {
    expect(maskSecrets(line)).toBe(masked);
  });

  it('leaves other lines as they are', () => {
    const line = '{"level":"info","msg":"EAA is an abbreviation, hrld a prefix"}';
    expect(maskSecrets(line)).toBe(line);
  });

  it.each([
    '{"request_id":"01890000-0000-7000-8000-000000000000","ms":12.345678901234}',
    '{"time":"2026-11-21T23:55:38.325Z","msg":"the templates of 123456789012345 could not be synced"}',
    '{"stack":"Error: x\\n    at file:///app/dist/src/main.js:12:34"}',
  ])('takes no id, time or place for a number: %s', (line) => {
    expect(maskSecrets(line)).toBe(line);
  });
});
