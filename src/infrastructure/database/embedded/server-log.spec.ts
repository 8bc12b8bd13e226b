import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ServerLog } from './server-log.js';

describe('the log of the server', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-log-'));
  const log = new ServerLog(join(folder, 'postgres.log'));
  afterAll(() => rmSync(folder, { recursive: true }));

  it('is put aside over its limit, while the server goes on writing to it', async () => {
    const server = await log.open();
    try {
      await server.write('x'.repeat(100));
      await log.shorten(100);
      expect(await log.size()).toBe(100);

      await server.write('y');
      await log.shorten(100);
      expect(await log.size()).toBe(0);
      expect(readFileSync(`${log.path}.1`, 'utf8')).toBe(`${'x'.repeat(100)}y`);

      await server.write('after');
      expect(readFileSync(log.path, 'utf8')).toBe('after');
    } finally {
      await server.close();
    }
  });

  it('is read from a mark on, for what a start said', async () => {
    const mark = await log.size();
    const server = await log.open();
    await server.write('FATAL:  no');
    await server.close();
    expect(await log.since(mark)).toBe('FATAL:  no');
  });
});
