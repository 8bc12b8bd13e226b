import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Webhook } from 'standardwebhooks';
import { newWebhookSecret, signDelivery } from '../../src/common/standard-webhooks.js';
import { readProjectFile, ROOT } from '../support/project-files.js';
import { waitFor } from '../support/wait-for.js';

interface Vector {
  title: string;
  valid: boolean;
  secret: string;
  now: number;
  headers: { 'webhook-id': string; 'webhook-timestamp': string; 'webhook-signature': string };
  body: string;
}

const { vectors } = JSON.parse(readProjectFile('docs/webhook-vectors.json')) as { vectors: Vector[] };

describe('the vectors', () => {
  it('hold good deliveries and forgeries', () => {
    expect(vectors.filter(({ valid }) => valid).length).toBeGreaterThan(5);
    expect(vectors.filter(({ valid }) => !valid).length).toBeGreaterThan(8);
  });

  it.each(vectors.filter(({ valid }) => valid))('$title: is what we sign', ({ secret, headers, body }) => {
    const signature = signDelivery([secret], headers['webhook-id'], Number(headers['webhook-timestamp']), body);
    expect(headers['webhook-signature'].split(' ')).toContain(signature);
  });

  it.each(vectors)('$title: the published library says the same', ({ secret, headers, body, now, valid }) => {
    const clock = Date.now;
    Date.now = () => now * 1_000;
    try {
      let taken = true;
      try {
        new Webhook(secret).verify(body, headers);
      } catch {
        taken = false;
      }
      expect(taken).toBe(valid);
    } finally {
      Date.now = clock;
    }
  });
});

describe.each([
  ['receiver.mjs', process.execPath],
  ['receiver.py', 'python3'],
])('%s of the guide', (file, program) => {
  const here = spawnSync(program, ['--version']).status === 0;
  const secret = newWebhookSecret();
  let child: ChildProcess;
  let url: string;
  const printed: string[] = [];

  beforeAll(async () => {
    if (!here) return;
    child = spawn(program, [join(ROOT, 'docs/examples', file)], {
      env: { PATH: process.env.PATH, WEBHOOK_SECRET: secret, PORT: '0' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const lines = createInterface({ input: child.stdout as NodeJS.ReadableStream });
    const port = await new Promise<string>((resolve) => {
      lines.on('line', (line) => {
        const listening = /listening on port (\d+)/.exec(line)?.[1];
        if (listening === undefined) printed.push(line);
        else resolve(listening);
      });
    });
    url = `http://127.0.0.1:${port}/webhooks`;
  });

  afterAll(() => {
    child?.kill();
  });

  const body = JSON.stringify({ id: 'evt-1', type: 'message.received', data: { text: 'Olá 👋' } });
  const at = (shift: number): number => Math.floor(Date.now() / 1_000) + shift;
  const post = async (headers: Record<string, string>, text = body): Promise<number> =>
    (await fetch(url, { method: 'POST', headers, body: text })).status;
  const signed = (secrets: string[], shift = 0, id = 'evt-1'): Record<string, string> => {
    const timestamp = at(shift);
    return {
      'webhook-id': id,
      'webhook-timestamp': String(timestamp),
      'webhook-signature': signDelivery(secrets, id, timestamp, body),
    };
  };

  // Without Python the rest is still tested.
  const ifHere = here ? it : it.skip;

  ifHere.each([{}, { WEBHOOK_SECRET: '' }, { WEBHOOK_SECRET: 'whsec_' }, { WEBHOOK_SECRET: 'whsec_c2hvcnQ=' }])(
    'does not start with %j, and says what to do',
    (env) => {
      const options = {
        env: { PATH: process.env.PATH, PORT: '0', ...env },
        encoding: 'utf8',
        timeout: 30_000,
      } as const;
      const { status, stderr } = spawnSync(program, [join(ROOT, 'docs/examples', file)], options);
      expect(status).toBe(1);
      expect(stderr).toContain('Set WEBHOOK_SECRET');
    },
  );

  ifHere('takes what Herald signs, also while two secrets sign', async () => {
    expect(await post(signed([secret]))).toBe(204);
    expect(await post(signed([newWebhookSecret(), secret], 0, 'evt-2'))).toBe(204);
    expect(await post(signed([secret, newWebhookSecret()], -290, 'evt-3'))).toBe(204);
    // It answers before it prints.
    await waitFor(() => printed.length === 3);
    expect(printed[0]).toBe('verified message.received evt-1');
  });

  ifHere('answers a delivery that is repeated, and handles it once', async () => {
    const before = printed.length;
    const first = signed([secret], 0, 'evt-again');
    expect(await post(first)).toBe(204);
    // The very same bytes, as somebody sends them who recorded them, and another attempt of Herald's.
    expect(await post(first)).toBe(204);
    expect(await post(signed([secret], 1, 'evt-again'))).toBe(204);
    expect(await post({})).toBe(401);
    await waitFor(() => printed.at(-1)?.startsWith('refused') === true);
    expect(printed.slice(before)).toEqual(['verified message.received evt-1', 'refused: the signature is not right']);
  });

  ifHere('takes nothing else', async () => {
    const good = signed([secret]);
    expect(await post(good, body.replace('evt-1', 'evt-2'))).toBe(401);
    expect(await post({ ...good, 'webhook-id': 'evt-2' })).toBe(401);
    expect(await post({ ...good, 'webhook-timestamp': String(at(5)) })).toBe(401);
    expect(await post({ ...good, 'webhook-timestamp': 'soon' })).toBe(401);
    expect(await post({ ...good, 'webhook-signature': '' })).toBe(401);
    expect(await post({ ...good, 'webhook-signature': (good['webhook-signature'] ?? '').replace('v1', 'v2') })).toBe(
      401,
    );
    expect(await post(signed([newWebhookSecret()]))).toBe(401);
    expect(await post(signed([secret], -310))).toBe(401);
    expect(await post(signed([secret], 310))).toBe(401);
    expect(await post({})).toBe(401);
  });
});
