import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jest } from '@jest/globals';
import { isAlive, openLog, shortenLog } from './server.js';

afterEach(() => jest.restoreAllMocks());

it('the log of the server is rotated over its limit, while the server goes on writing to it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-log-'));
  const file = join(folder, 'postgres.log');
  const server = await openLog(file);
  try {
    await server.write('x'.repeat(100));
    await shortenLog(file, 100);
    expect(statSync(file).size).toBe(100);

    await server.write('y');
    await shortenLog(file, 100);
    expect(statSync(file).size).toBe(0);
    expect(readFileSync(`${file}.1`, 'utf8')).toBe(`${'x'.repeat(100)}y`);

    await server.write('after');
    expect(readFileSync(file, 'utf8')).toBe('after');
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
});

// Where there is no /proc: without the system's answer a process of another user cannot be told from one that is gone.
it.each([
  ['EPERM', true],
  ['ESRCH', false],
] as const)('a process that answers a signal with %s is alive: %s', async (code, isThere) => {
  jest.spyOn(process, 'kill').mockImplementation(() => {
    throw Object.assign(new Error(`kill ${code}`), { code });
  });
  expect(await isAlive(4_711, false)).toBe(isThere);
});
