import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openLog, shortenLog } from './server.js';

it('the log of the server is put aside over its limit, while the server goes on writing to it', async () => {
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
