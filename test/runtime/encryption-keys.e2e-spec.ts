import { randomBytes } from 'node:crypto';
import { startTestApp } from '../support/test-app.js';

it('a process whose keys open no stored secret does not start, and names the setting', async () => {
  const app = await startTestApp();
  try {
    const env = { ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}` };
    // Nothing is stored yet: any key will do.
    await (await startTestApp({ roles: ['worker'], shareWith: app, env })).stop();
    await app.sender();
    await expect(startTestApp({ roles: ['worker'], shareWith: app, env })).rejects.toThrow(
      /^ENCRYPTION_KEYS does not open the stored secrets of key version \d+: set the keys that encrypted them$/,
    );
  } finally {
    await app.stop();
  }
});
