import { maskSecrets } from './mask-secrets.js';

describe('maskSecrets', () => {
  it.each([
    [
      'a key',
      'sent hrld_live_0123456789ab_abcdefghijklmnopqrstuvwxyzABCDEF012345 twice',
      'sent hrld_live_0123456789ab_*** twice',
    ],
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
