import { spawn } from 'node:child_process';
import { createHmac, randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import * as sample from '../media/samples.js';
import type { DemoFile } from '../../src/bootstrap/demo-file.js';
import { freePort } from '../support/rig/free-port.js';
import { HeraldProcess, runHerald, temporaryDataDir } from '../support/herald-process.js';
import { ROOT } from '../support/project-files.js';
import { waitFor } from '../support/wait-for.js';

interface EventPage {
  data: { cursor: string; data: { message_id?: string; status?: string } }[];
  next: string;
  done: boolean;
}

/** The lines of `--json` of a command that goes on for a while. */
function linesOf<T>(stdout: string): T[] {
  return stdout
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as T);
}

describe('herald, as a new user calls it beside the running demo', () => {
  const dataDir = temporaryDataDir();
  const env = { DATA_DIR: dataDir.path };
  let herald: HeraldProcess;

  beforeAll(async () => {
    herald = await HeraldProcess.start(env);
  });
  afterAll(async () => {
    await herald?.end();
    dataDir.remove();
  });

  it('demo runs the whole tour, and every step passes', async () => {
    const { code, stdout, stderr } = await runHerald(['demo', '--fast', '--json'], env);
    const end = linesOf<{ event: string; results?: { chapter: string; result: string; reason: string | null }[] }>(
      stdout,
    ).at(-1);
    expect(end?.results?.map(({ chapter, result, reason }) => [chapter, result, reason])).toEqual(
      ['send', 'retry', 'outcome-unknown', 'inbound', 'template', 'file', 'code', 'webhook'].map((chapter) => [
        chapter,
        'passed',
        null,
      ]),
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  }, 180_000);

  it('message send --watch follows it until it is read; a repeat with its key sends nothing', async () => {
    const key = '01890000-0000-7000-8000-0000000000aa';
    const send = ['message', 'send', '--to', '+1 555 000 1234', '--text', 'Hello', '--idempotency-key', key, '--json'];
    const { code, stdout } = await runHerald([...send, '--watch'], env);
    const lines = linesOf<{ event: string; status?: string; message?: { status: string } }>(stdout);
    expect(code).toBe(0);
    expect(lines.filter(({ event }) => event === 'status').map(({ status }) => status)).toEqual([
      'queued',
      'processing',
      'accepted',
      'sent',
      'delivered',
      'read',
    ]);
    expect(lines.at(-1)?.message?.status).toBe('read');
    const again = await runHerald(send, env);
    expect(JSON.parse(again.stdout)).toMatchObject({ replayed: true, idempotency_key: key });
  });

  it('message send --file sends many, and says what became of each', async () => {
    const file = join(dataDir.path, 'messages.json');
    const body = (text: string) => ({ to: '15550001234', type: 'text', text: { body: text } });
    const messages = Array.from({ length: 120 }, (_, n) => ({ ...body(`number ${n}`), idempotency_key: randomUUID() }));
    writeFileSync(file, JSON.stringify(messages));
    const sent = await runHerald(['message', 'send', '--file', file, '--json'], env);
    expect(sent.code).toBe(0);
    const lines = linesOf<Record<string, unknown>>(sent.stdout);
    expect(lines.at(-1)).toEqual({ event: 'end', accepted: 120, replayed: 0, refused: 0 });
    expect(lines.slice(0, -1).map(({ index }) => index)).toEqual(messages.map((_, n) => n));

    writeFileSync(
      file,
      [messages[0], body('one more'), { ...body('x'), to: '1' }].map((one) => JSON.stringify(one)).join('\n'),
    );
    const strict = await runHerald(['message', 'send', '--file', file], env);
    expect([strict.code, strict.stdout]).toEqual([
      1,
      expect.stringMatching(
        /^2 +VALIDATION_FAILED .*\n0 taken, 3 not taken, 2 of them only because of the others: .+\n$/,
      ) as string,
    ]);
    const permissive = await runHerald(['message', 'send', '--file', file, '--permissive', '--json'], env);
    expect(permissive.code).toBe(1);
    expect(linesOf(permissive.stdout).at(-1)).toEqual({ event: 'end', accepted: 1, replayed: 1, refused: 1 });
    expect((await runHerald(['message', 'send', '--file', file, '--to', '15550001234'], env)).code).toBe(2);
  });

  it('message watch ends with 1 where the message failed', async () => {
    const sent = await runHerald(['message', 'send', '--to', '15550100003', '--text', 'Hi', '--json'], env);
    const { id } = JSON.parse(sent.stdout) as { id: string };
    const { code, stdout } = await runHerald(['message', 'watch', id], env);
    expect(code).toBe(1);
    expect(stdout).toContain('failed: ');
  });

  it('tail prints a message and its statuses as they come, and ends cleanly with Ctrl-C', async () => {
    const child = spawn(process.execPath, [join(ROOT, 'dist/src/cli/main.js'), 'tail', '--contact', '15550100001'], {
      cwd: dataDir.path,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    const ended = once(child, 'close');
    try {
      await waitFor(() => output.includes('following'));
      await runHerald(['message', 'send', '--to', '15550100001', '--text', 'Seen by tail'], env);
      await waitFor(() => output.includes('Seen by tail') && /\bsent\b/.test(output));
    } finally {
      child.kill('SIGINT');
    }
    await ended;
    expect(child.exitCode).toBe(0);
  }, 180_000);

  it('message explain says what happened to a message', async () => {
    const sent = await runHerald(['message', 'send', '--to', '15550100003', '--text', 'Hi', '--json'], env);
    const { id } = JSON.parse(sent.stdout) as { id: string };
    await runHerald(['message', 'watch', id], env);
    const explain = await runHerald(['message', 'explain', id], env);
    expect(explain.code).toBe(0);
    expect(explain.stdout).toContain('Who can do something about it: you');
    expect(explain.stdout).toMatch(/attempt_rejected +whatsapp +Attempt 1 failed: .*131009/);
    const json = JSON.parse((await runHerald(['message', 'explain', id, '--json'], env)).stdout) as {
      explanation: { responsible: string };
    };
    expect(json.explanation.responsible).toBe('you');
    const missing = await runHerald(['message', 'explain', randomUUID()], env);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('MESSAGE_NOT_FOUND') as string]);
  });

  it('simulate status reports what WhatsApp would', async () => {
    const read = await runHerald(['message', 'send', '--to', '15550001234', '--text', 'Hi', '--watch', '--json'], env);
    const last = linesOf<{ message?: { id: string } }>(read.stdout).at(-1);
    const reported = await runHerald(['simulate', 'status', last?.message?.id ?? '', 'delivered'], env);
    expect(reported).toMatchObject({ code: 0, stderr: '' });
  }, 180_000);

  it.each([
    { given: ['--button', 'yes'], type: 'interactive', holds: '"button_reply"' },
    { given: ['--list', 'row-2'], type: 'interactive', holds: '"list_reply"' },
    { given: ['--reaction', '👍'], type: 'reaction', holds: '👍' },
    { given: ['--new-number', '--text', 'Hello'], type: 'text', holds: 'Hello' },
  ])(
    'simulate inbound $given is a $type in the journal',
    async ({ given, type, holds }) => {
      const { code, stdout } = await runHerald(['simulate', 'inbound', ...given, '--json'], env);
      expect(code).toBe(0);
      const { id } = JSON.parse(stdout) as { id: string };
      const stored = await waitFor(async () => {
        const { base_url: url, api_key: key } = JSON.parse(
          readFileSync(join(dataDir.path, 'demo.json'), 'utf8'),
        ) as DemoFile;
        const journal = await fetch(`${url}/api/v1/messages?direction=inbound&limit=20`, {
          headers: { authorization: `Bearer ${key}` },
        });
        const { data } = (await journal.json()) as { data: { meta_message_id: string; type: string }[] };
        return data.find((message) => message.meta_message_id === id);
      });
      expect(stored.type).toBe(type);
      expect(stdout).toContain(holds);
    },
    180_000,
  );

  it('simulate inbound sends a picture, and refuses what is none', async () => {
    const picture = join(dataDir.path, 'table.png');
    writeFileSync(picture, sample.png());
    const sent = await runHerald(['simulate', 'inbound', '--image', picture, '--text', 'This one', '--json'], env);
    expect(sent.code).toBe(0);
    expect(JSON.parse(sent.stdout)).toMatchObject({
      message: { type: 'image', image: { caption: 'This one', mime_type: 'image/png' } },
    });
    expect((await runHerald(['simulate', 'inbound', '--image', 'notes.txt'], env)).code).toBe(2);
    expect((await runHerald(['simulate', 'inbound', '--button', 'a', '--list', 'b'], env)).code).toBe(2);
  }, 180_000);

  it('simulate inbound edits and deletes a message of the customer, and refuses one that you sent', async () => {
    const demo = JSON.parse(readFileSync(join(dataDir.path, 'demo.json'), 'utf8')) as DemoFile;
    const of = async (filter: string) => {
      const headers = { authorization: `Bearer ${demo.api_key}` };
      const answer = await fetch(`${demo.base_url}/api/v1/messages?limit=1&${filter}`, { headers });
      type Shown = { id: string; current?: object | null; revoked_at?: string | null };
      return ((await answer.json()) as { data: Shown[] }).data[0];
    };
    const written = await runHerald(['simulate', 'inbound', '--text', 'A table at seven?', '--json'], env);
    const wamid = `meta_message_id=${encodeURIComponent((JSON.parse(written.stdout) as { id: string }).id)}`;
    const { id } = await waitFor(() => of(wamid));
    const edited = await runHerald(['simulate', 'inbound', '--edit', id, '--text', 'At eight!'], env);
    expect(edited).toMatchObject({ code: 0, stderr: '' });
    await waitFor(async () => JSON.stringify((await of(wamid))?.current).includes('At eight!'), { what: 'the edit' });
    expect((await runHerald(['simulate', 'inbound', '--revoke', id], env)).code).toBe(0);
    await waitFor(async () => typeof (await of(wamid))?.revoked_at === 'string', { what: 'the withdrawal' });
    expect((await runHerald(['simulate', 'inbound', '--edit', id], env)).code).toBe(2);
    const sent = (await of('source=api'))?.id ?? '';
    const refused = await runHerald(['simulate', 'inbound', '--revoke', sent], env);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('was sent by you')]);
  }, 180_000);

  it('simulate echo, contact and history do what a business does in the app; import-history imports it', async () => {
    const demo = JSON.parse(readFileSync(join(dataDir.path, 'demo.json'), 'utf8')) as DemoFile;
    const listed = async (source: string) => {
      const headers = { authorization: `Bearer ${demo.api_key}` };
      return (await fetch(`${demo.base_url}/api/v1/messages?source=${source}`, { headers })).text();
    };
    const echo = await runHerald(['simulate', 'echo', '--text', 'Your table is ready.', '--status', 'sent'], env);
    expect(echo).toMatchObject({ code: 0, stderr: '' });
    await waitFor(async () => (await listed('app')).includes('Your table is ready.'));
    expect((await runHerald(['simulate', 'contact', '--name', 'Ana Lima'], env)).code).toBe(0);
    const shared = await runHerald(['simulate', 'history', '--contacts', '2', '--messages', '3', '--later'], env);
    expect(shared).toMatchObject({ code: 0, stderr: '' });
    const importing = ['connection', 'import-history', demo.connection_id, '--workspace', demo.organization_id];
    expect((await runHerald([...importing, '--request'], env)).code).toBe(0);
    await waitFor(async () => {
      const { code, stdout } = await runHerald([...importing, '--json'], env);
      expect(code).toBe(0);
      return (JSON.parse(stdout) as { notifications: number }).notifications >= 4;
    });
    expect(await listed('history')).toContain('Message 2');
    const again = await runHerald([...importing, '--request'], env);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('WhatsApp does not hand')]);
  }, 180_000);

  it('simulate opt-out stops marketing messages, and resumes them', async () => {
    for (const [given, value] of [
      [[], 'stop'],
      [['--resume'], 'resume'],
    ] as const) {
      const { code, stdout } = await runHerald(['simulate', 'opt-out', ...given, '--json'], env);
      expect([code, JSON.parse(stdout)]).toEqual([0, expect.objectContaining({ value })]);
    }
  }, 180_000);

  it('simulate failure lets the next message to a number fail with that code', async () => {
    const asked = await runHerald(['simulate', 'failure', '131049', '--to', '+15550007777', '--json'], env);
    expect([asked.code, JSON.parse(asked.stdout)]).toEqual([
      0,
      expect.objectContaining({ code: 131049, to: '15550007777', times: 1, as: 'status' }),
    ]);
    await runHerald(['simulate', 'inbound', '--from', '+15550007777', '--text', 'Hi'], env);
    const failed = await runHerald(['message', 'send', '--to', '+15550007777', '--text', 'Hi', '--watch'], env);
    expect(failed.stdout).toContain('failed');
  }, 180_000);

  it('simulate inbound opens the window of a number that never wrote', async () => {
    const from = '+4915112345678';
    const { code } = await runHerald(['simulate', 'inbound', '--from', from, '--text', 'Is it ready?'], env);
    expect(code).toBe(0);
    const answer = await runHerald(['message', 'send', '--to', from, '--text', 'Yes', '--watch'], env);
    expect(answer.code).toBe(0);
  }, 180_000);

  it('webhook set and listen: events are received and verified', async () => {
    const port = await freePort();
    const set = await runHerald(['webhook', 'set', `http://127.0.0.1:${port}/`, '--json'], env);
    const { secret } = JSON.parse(set.stdout) as { secret: string };
    expect(secret).toMatch(/^whsec_/);
    const unknown = await runHerald(['webhook', 'set', 'https://example.com', '--events', 'message.read'], env);
    expect(unknown.code).toBe(2);
    const args = ['webhook', 'listen', '--port', String(port), '--secret', '-'];
    const child = spawn(process.execPath, [join(ROOT, 'dist/src/cli/main.js'), ...args], {
      cwd: dataDir.path,
      env: { PATH: process.env.PATH, ...env },
    });
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    child.stdin.end(secret);
    const ended = once(child, 'close');
    try {
      await waitFor(() => output.includes('listening on'));
      await runHerald(['message', 'send', '--to', '15550001234', '--text', 'Hi'], env);
      await waitFor(() => output.includes('message.status.updated'));
      const forged = await fetch(`http://127.0.0.1:${port}/`, { method: 'POST', body: '{}' });
      expect(forged.status).toBe(400);
    } finally {
      child.kill('SIGINT');
    }
    await ended;
    expect(child.exitCode).toBe(0);
  }, 180_000);

  it('webhook listen without a secret prints what happens, and with --forward-to signs and posts it', async () => {
    const got: { body: string; headers: IncomingHttpHeaders }[] = [];
    const program = createServer((request, response) => {
      void text(request).then((body) => {
        got.push({ body, headers: request.headers });
        response.writeHead(204).end();
      });
    });
    program.listen(0, '127.0.0.1');
    await once(program, 'listening');
    const to = `http://127.0.0.1:${(program.address() as AddressInfo).port}/hook`;
    const child = spawn(
      process.execPath,
      [join(ROOT, 'dist/src/cli/main.js'), 'webhook', 'listen', '--forward-to', to],
      {
        cwd: dataDir.path,
        env: { PATH: process.env.PATH, ...env },
      },
    );
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    child.stderr.on('data', (chunk) => (output += String(chunk)));
    const ended = once(child, 'close');
    try {
      await waitFor(() => output.includes('following'));
      await runHerald(['message', 'send', '--to', '15550001234', '--text', 'Hi'], env);
      await waitFor(() => got.some(({ body }) => body.includes('message.status.updated')));
      await waitFor(() => output.includes('-> 204'));
      const secret = /signing secret: (whsec_\S+)/.exec(output)?.[1] ?? '';
      const [{ body, headers } = { body: '', headers: {} as IncomingHttpHeaders }] = got;
      const signed = createHmac('sha256', Buffer.from(secret.slice('whsec_'.length), 'base64'))
        .update(`${String(headers['webhook-id'])}.${String(headers['webhook-timestamp'])}.${body}`)
        .digest('base64');
      expect(headers['webhook-signature']).toBe(`v1,${signed}`);
      expect(JSON.parse(body)).toMatchObject({
        id: headers['webhook-id'],
        type: 'message.status.updated',
        cursor: expect.any(String),
      });
    } finally {
      child.kill('SIGINT');
      program.closeAllConnections();
      program.close();
    }
    await ended;
    expect(child.exitCode).toBe(0);
    const both = await runHerald(['webhook', 'listen', '--secret', 'whsec_x', '--forward-to', to], env);
    expect(both.code).toBe(2);
  }, 180_000);

  it('events list and tail: each event once, in order, and on from a cursor', async () => {
    const now = JSON.parse((await runHerald(['events', 'list', '--after', 'now', '--json'], env)).stdout) as EventPage;
    const send = async (): Promise<string | undefined> => {
      const sent = await runHerald(
        ['message', 'send', '--to', '15550001234', '--text', 'Hi', '--json', '--watch'],
        env,
      );
      return linesOf<{ message?: { id: string } }>(sent.stdout).at(-1)?.message?.id;
    };
    const first = await send();
    const statuses = ['accepted', 'sent', 'delivered', 'read'];
    const { data } = await waitFor(async () => {
      const listed = await runHerald(['events', 'list', '--after', now.next, '--json'], env);
      const page = JSON.parse(listed.stdout) as EventPage;
      // Messages of the tests before may still come to other states.
      const data = page.data.filter((event) => event.data.message_id === first);
      return page.done && data.length === 4 && { data };
    });
    // WhatsApp may report them in any order.
    const found = data.map((event) => event.data.status);
    expect(found).toHaveLength(statuses.length);
    expect(found).toEqual(expect.arrayContaining(statuses));
    const shown = await runHerald(['events', 'list', '--after', now.next, '--limit', '1'], env);
    expect(shown.stdout).toContain('message.status.updated');
    expect(shown.stdout).toContain('there is more; next: ');

    const args = ['events', 'tail', '--json', '--after', data[1]?.cursor ?? ''];
    const child = spawn(process.execPath, [join(ROOT, 'dist/src/cli/main.js'), ...args], {
      cwd: dataDir.path,
      env: { PATH: process.env.PATH, ...env },
    });
    const ids = [first ?? ''];
    let output = '';
    child.stdout.on('data', (chunk) => (output += String(chunk)));
    const ended = once(child, 'close');
    try {
      const tailed = () =>
        linesOf<EventPage['data'][number]>(output).flatMap(({ data: { message_id: id, status } }) =>
          id !== undefined && ids.includes(id) ? [status] : [],
        );
      await waitFor(() => output.endsWith('\n') && tailed().length === 2);
      expect(tailed()).toEqual(found.slice(2));
      ids.push((await send()) ?? '');
      await waitFor(() => output.endsWith('\n') && tailed().length === 6);
      const listed = await runHerald(['events', 'list', '--after', data[1]?.cursor ?? '', '--json'], env);
      const page = JSON.parse(listed.stdout) as EventPage;
      const ours = page.data.filter((event) => ids.includes(event.data.message_id ?? ''));
      expect(tailed()).toEqual(ours.map((event) => event.data.status));
    } finally {
      child.kill('SIGINT');
    }
    await ended;
    expect(child.exitCode).toBe(0);
    const refused = await runHerald(['events', 'list', '--after', 'yesterday', '--json'], env);
    expect(refused.code).toBe(1);
    expect(refused.stdout).toContain('INVALID_REQUEST');
  }, 180_000);

  it('a file that is not there is wrong use, before anything is sent', async () => {
    const send = ['message', 'send', '--to', '15550001234', '--media', 'nothing-here.pdf'];
    const { code, stderr } = await runHerald(send, env);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("nothing-here.pdf can't be read") });
  });

  it('says what is wrong in the API’s words, with 1; wrong use is 2', async () => {
    const stranger = await runHerald(['message', 'send', '--to', '15550987654', '--text', 'Hi', '--json'], env);
    expect(stranger.code).toBe(1);
    expect(JSON.parse(stranger.stdout)).toMatchObject({ error: { code: 'SERVICE_WINDOW_CLOSED' } });
    const elsewhere = await runHerald(['events', 'list', '--url', 'http://127.0.0.1:1'], env);
    expect(elsewhere).toMatchObject({ code: 1, stdout: '' });
    expect(elsewhere.stderr).toContain("the demo's is good for");
    for (const [url, wrong] of [
      ['ftp://127.0.0.1:1', 'must be a URL that begins with http:// or https://'],
      ['http://me:hush@127.0.0.1:1', 'must have no user and no password'],
    ] as const) {
      const refused = await runHerald(['events', 'list', '--url', url], env);
      expect(refused).toMatchObject({ code: 1, stdout: '', stderr: `herald: --url ${wrong}\n` });
    }
    const typo = await runHerald(['message', 'snd', '--json'], env);
    expect(typo.code).toBe(2);
    expect(JSON.parse(typo.stdout).error.message).toContain('Did you mean send?');
  });
});

describe('herald where nothing runs', () => {
  const dataDir = temporaryDataDir();
  afterAll(() => dataDir.remove());

  it('demo says how to start it', async () => {
    const { code, stderr } = await runHerald(['demo'], { DATA_DIR: dataDir.path });
    expect(code).toBe(1);
    expect(stderr).toContain('start it with "npm start" in another terminal');
  });

  it('a key and an address are all that a command needs', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const env = { DATA_DIR: dataDir.path, HERALD_API_KEY: 'a-key', HERALD_URL: url };
    const { code, stderr } = await runHerald(['events', 'list'], env);
    expect(code).toBe(1);
    expect(stderr).toContain(`Herald does not answer at ${url} (ECONNREFUSED): start it with "npm start"`);
  });
});
