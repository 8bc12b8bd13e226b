import { isTrustedHost } from './trusted-host.js';

describe('the host of a request without credentials', () => {
  it.each([
    'localhost',
    'LOCALHOST:3001',
    'a.localhost:1',
    '127.0.0.1',
    '127.0.0.1:3001',
    '[::1]:3001',
    '10.0.0.7',
    'herald:80',
  ])('is trusted as %s', (header) => expect(isTrustedHost(header, ['herald'])).toBe(true));

  it.each([
    undefined,
    '',
    ':3001',
    'evil.example',
    'evil.example:3001',
    'localhost.evil.example',
    '127.0.0.1.evil.example',
    'xlocalhost',
    '[evil]',
    '1',
    'a:b:c',
    'heralds',
  ])('is not as %s', (header) => expect(isTrustedHost(header, ['herald'])).toBe(false));
});
