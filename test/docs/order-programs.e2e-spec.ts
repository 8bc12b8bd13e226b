import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { emit, installClient } from '../client/client-package.js';
import { HeraldProcess, temporaryDataDir } from '../support/herald-process.js';
import { readProjectFile, ROOT } from '../support/project-files.js';

/*
 * The two programs of docs/order-confirmations.md, run to the end, and once more after a crash between sending and
 * saving: each order is confirmed once. The page's own commands are run by commands.e2e-spec.ts.
 */

const START_WITHIN_MS = 90_000;
const ORDERS = [
  { id: '4711', name: 'Ana', to: '+15550001234' },
  { id: '4712', name: 'Ben', to: '+15550100002' },
  { id: '4713', name: 'Cem', to: '+15550100004' },
];
const PRINTED = ['4711: confirmed', '4712: failed, send an e-mail', '4713: confirmed'];

interface Order {
  key?: string;
  message?: string;
}

describe('the programs of the page about orders', () => {
  const data = temporaryDataDir();
  const folder = join(data.path, 'orders');
  let herald: HeraldProcess;
  let demo: Record<string, string>;
  let handle: string;

  beforeAll(async () => {
    herald = await HeraldProcess.start({ DATA_DIR: data.path }, START_WITHIN_MS);
    demo = JSON.parse(readFileSync(join(data.path, 'demo.json'), 'utf8')) as Record<string, string>;
    mkdirSync(folder);
    installClient(folder);
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
    emit(folder, { 'orders.ts': readProjectFile('docs/examples/orders.ts') });
    copyFileSync(join(ROOT, 'docs/examples/orders.py'), join(folder, 'orders.py'));
    handle = await sampleHandle();
  }, 300_000);

  afterAll(async () => {
    await herald.end();
    data.remove();
  });

  async function sampleHandle(): Promise<string> {
    const graph = `${demo.simulator_url}/v26.0`;
    const sample = '%PDF-1.4\n';
    const query = `file_name=a.pdf&file_type=application/pdf&file_length=${sample.length}`;
    const headers = { authorization: 'OAuth anything' };
    const begun = await fetch(`${graph}/670843887433847/uploads?${query}`, { method: 'POST', headers });
    const { id } = (await begun.json()) as { id: string };
    const done = await fetch(`${graph}/${id}`, { method: 'POST', headers, body: sample });
    return ((await done.json()) as { h: string }).h;
  }

  async function run(program: string, file: string): Promise<string[]> {
    const child = spawn(program, [file], {
      cwd: folder,
      env: { PATH: process.env.PATH, HERALD_URL: demo.base_url, HERALD_API_KEY: demo.api_key, HANDLE: handle },
    });
    let output = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
    await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return output.trim().split('\n');
  }

  const saved = () => JSON.parse(readFileSync(join(folder, 'orders.json'), 'utf8')) as Order[];

  it.each([
    ['TypeScript', process.execPath, 'orders.js'],
    ['Python', 'python3', 'orders.py'],
  ])('%s confirms each order once, after a crash too', async (_language, program, file) => {
    writeFileSync(join(folder, 'orders.json'), JSON.stringify(ORDERS));
    expect(await run(program, file)).toEqual(PRINTED);
    const first = saved();
    const messages = first.map(({ message }) => message);
    expect(new Set(messages).size).toBe(ORDERS.length);

    // As a crash leaves it: the keys are saved, the messages are not.
    writeFileSync(join(folder, 'orders.json'), JSON.stringify(first.map(({ message: _lost, ...order }) => order)));
    expect(await run(program, file)).toEqual(PRINTED);
    expect(saved().map(({ message }) => message)).toEqual(messages);
  });
});
