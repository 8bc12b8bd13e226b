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
    ['two of them', 'whsec_abc whsec_def', 'whsec_*** whsec_***'],
  ])('masks %s', (_name, line, masked) => {
    expect(maskSecrets(line)).toBe(masked);
  });

  it('leaves other lines as they are', () => {
    const line = '{"level":"info","msg":"EAA is an abbreviation, hrld a prefix"}';
    expect(maskSecrets(line)).toBe(line);
  });
});
