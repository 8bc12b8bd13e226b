import { jest } from '@jest/globals';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { commandsOf } from '../../src/cli/guides.js';
import { buildProgram } from '../../src/cli/program.js';
import { placeOf } from '../../src/cli/runner.js';
import { Erasure, ErasureUnfinishedError } from '../../src/modules/workspaces/erasure/erasure.service.js';
import type { AdminApp, AdminClient } from '../admin/fixture.js';
import { startAdminApp } from '../admin/fixture.js';
import { approvedTemplate } from '../otp/fixture.js';
import { selfSigned } from '../support/certificates.js';
import { runHerald, temporaryDataDir } from '../support/herald-process.js';
import { runInProcess } from '../support/run-in-process.js';
import { waitFor } from '../support/wait-for.js';

const commands = commandsOf(buildProgram());
const onlyHere = commands.flatMap(([words, command]) => {
  const place = placeOf(command);
  return typeof place === 'object' ? [[words, place.onlyHere] as const] : [];
});

/** What each run has of its own. */
const OWN = [
  [/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, '<uuid>'],
  [/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>'],
  [/hrld_(live|test|admin)_\w+/g, '<key>'],
  [/hrld_setup_[\w-]+/g, '<link>'],
  [/("id": "|Id +|Revoked )[0-9A-Za-z]{12}\b/g, '$1<key-id>'],
  [/^[0-9A-Za-z]{12}(?=  shop)/gm, '<key-id>'],
  [/\b1\d{14}\b/g, '<platform-id>'],
  [/\b1555\d{7}\b/g, '<number>'],
  [/"last_used_at": "<time>"/g, '"last_used_at": null'],
  [/http:\/\/(127\.0\.0\.1|localhost):\d+/g, '<service>'],
] as const;

const alike = (text: string): string => OWN.reduce((rest, [what, mask]) => rest.replaceAll(what, mask), text);

describe('herald --url', () => {
  let admin: AdminApp;
  let operator: AdminClient;
  /** As on the server. */
  let here: Record<string, string>;
  /** As on a machine that has nothing but the key. */
  let elsewhere: Record<string, string>;
  const emptyDir = temporaryDataDir();
  const numbers = { phoneNumberId: '123456789012345', wabaId: '543210987654321' };
  const codes = { phoneNumberId: '123456789012399', wabaId: '543210987654399' };

  beforeAll(async () => {
    admin = await startAdminApp();
    operator = await admin.operator();
    const { config, databaseUrl, dataDir, simulatorUrl, baseUrl, simulator } = admin.test;
    here = {
      DATABASE_URL: databaseUrl,
      DATA_DIR: dataDir,
      WHATSAPP_API_URL: simulatorUrl ?? '',
      RATE_LIMIT_PER_SECOND: String(config.limits.ratePerSecond),
      RATE_LIMIT_BURST: String(config.limits.rateBurst),
      ...(process.env.REDIS_URL === undefined ? {} : { REDIS_URL: process.env.REDIS_URL }),
    };
    elsewhere = { DATA_DIR: emptyDir.path, HERALD_URL: baseUrl, HERALD_OPERATOR_KEY: operator.key };
    simulator.registerNumber({ ...numbers, displayPhoneNumber: '+1 555-010-9999', verifiedName: 'Acme' });
    simulator.registerNumber({ ...codes, displayPhoneNumber: '+1 555-010-9998', verifiedName: 'Codes' });
    await approvedTemplate(simulatorUrl ?? '', codes.wabaId, 'login_code');
  });

  afterAll(async () => {
    await admin.test.stop();
    emptyDir.remove();
  });

  const run = (line: string, env: Record<string, string>): Promise<string> => runInProcess(line.split(' '), env);
  const json = async <T>(line: string): Promise<T> => JSON.parse(await run(`${line} --json`, elsewhere)) as T;

  /** What commands work on; each run of a command that changes something gets a new one. */
  async function things() {
    const workspace = (await operator.post('/workspaces', { name: 'Acme' })).body.data.id as string;
    const body = { name: 'shop', scopes: ['messages:read'] };
    const key = (await operator.post(`/workspaces/${workspace}/keys`, body)).body.data.id as string;
    const project = (await operator.post(`/workspaces/${workspace}/otp-projects`, { name: 'shop', mode: 'live' })).body
      .data.id as string;
    const connection = (await admin.test.factories.connection({ organizationId: workspace })).id;
    const link = (await operator.post(`/workspaces/${workspace}/setup-links`, {})).body.data.id as string;
    const ofOperators = (await operator.post('/operator-keys', { name: 'shop', scopes: ['usage:read'] })).body.data
      .id as string;
    return { workspace, key, project, connection, link, operatorKey: ofOperators };
  }
  type Things = Awaited<ReturnType<typeof things>>;

  const idsOf = (of: typeof numbers) => `--phone-number-id ${of.phoneNumberId} --waba-id ${of.wabaId}`;
  const rates = join(emptyDir.path, 'rates.csv');
  /** Every command of operators, as a line that runs here and elsewhere. */
  const LINES: Readonly<Record<string, (of: Things) => string>> = {
    'workspace create': () => 'workspace create --name Acme',
    'workspace list': () => 'workspace list',
    'workspace show': ({ workspace }) => `workspace show ${workspace}`,
    'workspace limits': ({ workspace }) =>
      `workspace limits --workspace ${workspace} --rate 7 --messages-per-day default`,
    'workspace opt-out-keywords': ({ workspace }) =>
      `workspace opt-out-keywords --workspace ${workspace} --language de --out Stopp,Halt`,
    'workspace delete': ({ workspace }) => `workspace delete ${workspace} --yes`,
    'subscription set': ({ workspace }) => `subscription set --workspace ${workspace} --paid-until 2099-12-31`,
    'key create': ({ workspace }) => `key create --workspace ${workspace} --scopes messages:read`,
    'key list': ({ workspace }) => `key list --workspace ${workspace}`,
    'key revoke': ({ workspace, key }) => `key revoke ${key} --workspace ${workspace}`,
    'key rotate': ({ workspace, key }) => `key rotate ${key} --workspace ${workspace} --overlap 0s`,
    'operator-key create': ({ workspace }) =>
      `operator-key create --name shop --scopes usage:read,keys:write --workspaces ${workspace} --expires-in 30d`,
    'operator-key list': () => 'operator-key list',
    'operator-key revoke': ({ operatorKey }) => `operator-key revoke ${operatorKey}`,
    'operator-key rotate': ({ operatorKey }) => `operator-key rotate ${operatorKey} --overlap 0s`,
    'data erase': ({ workspace }) => `data erase --workspace ${workspace} --number +15550001234 --yes`,
    'connection add': ({ workspace }) => `connection add --workspace ${workspace} ${idsOf(numbers)} --token of-a-user`,
    'connection list': ({ workspace }) => `connection list --workspace ${workspace}`,
    'connection set': ({ workspace, connection }) =>
      `connection set ${connection} --workspace ${workspace} --marketing-route messages`,
    'connection import-history': ({ workspace, connection }) =>
      `connection import-history ${connection} --workspace ${workspace}`,
    'connection disconnect': ({ workspace, connection }) =>
      `connection disconnect ${connection} --workspace ${workspace}`,
    'setup-link create': ({ workspace }) => `setup-link create --workspace ${workspace} --signup manual`,
    'setup-link list': ({ workspace }) => `setup-link list --workspace ${workspace}`,
    'setup-link revoke': ({ workspace, link }) => `setup-link revoke ${link} --workspace ${workspace}`,
    'otp-project create': ({ workspace }) => `otp-project create --workspace ${workspace} --mode live --countries DE`,
    'otp-project list': ({ workspace }) => `otp-project list --workspace ${workspace}`,
    'otp-package grant': ({ workspace, project }) =>
      `otp-package grant --workspace ${workspace} --project ${project} --country DE --limit 5`,
    'otp-package list': ({ workspace, project }) => `otp-package list --workspace ${workspace} --project ${project}`,
    'otp-sender set': () => `otp-sender set ${idsOf(codes)} --template login_code --token of-a-user`,
    'otp-sender show': () => 'otp-sender show',
    usage: ({ workspace }) => `usage --workspace ${workspace} --month 2026-10`,
    'rates set': () => `rates set --file ${rates}`,
    'rates show': () => 'rates show',
    'queue status': () => 'queue status',
    audit: ({ workspace }) => `audit --workspace ${workspace} --action key.created`,
  };
  /** What differs, and why: each run of these is compared without it. */
  const APART: Readonly<Record<string, RegExp>> = {
    // On the server the command itself deletes, and counts.
    'workspace delete': /,?\s*"counts": \{[^}]*\}|^\S.* +\d+\n/gm,
    // It was counted at another moment.
    'queue status': /"oldest_due_ms": \w+|\d+\.\d s/g,
  };

  it('every command runs elsewhere, or says why it does not', () => {
    const anywhere = commands.filter(([, command]) => placeOf(command) === 'anywhere').map(([words]) => words);
    expect(anywhere.sort()).toEqual(Object.keys(LINES).sort());
    expect(onlyHere.map(([words]) => words).sort()).toEqual(Object.keys(REFUSED).sort());
  });

  describe.each(['', ' --json'])('prints the same as on the server%s', (form) => {
    beforeAll(() => {
      writeFileSync(
        rates,
        'countries,category,tier_from,price,currency,valid_from\nDE,marketing,1,0.1131,EUR,2026-10-01\n',
      );
    });

    it.each(Object.keys(LINES))('%s', async (words) => {
      // A number belongs to one workspace.
      const release = () =>
        admin.test.database.execute(`delete from connection where phone_number_id = $1`, [numbers.phoneNumberId]);
      const print = async (env: Record<string, string>): Promise<string> => {
        if (words === 'connection add') await release();
        const line = LINES[words]?.(isReading(words) ? shared : await things()) ?? '';
        return alike(await run(line + form, env)).replaceAll(APART[words] ?? /$^/g, '');
      };
      const isReading = (name: string): boolean => / (list|show|status)$|^(usage|audit)$/.test(name);
      const shared = await things();
      const local = await print(here);
      expect(local).not.toBe('');
      expect(await print(elsewhere)).toBe(local);
    });
  });

  /** With what they cannot be without. */
  const REFUSED: Readonly<Record<string, string>> = {
    migrate: 'migrate',
    doctor: 'doctor',
    restore: 'restore --dry-run',
    'secrets rotate': 'secrets rotate',
    'media move': 'media move --to s3',
  };

  it.each(onlyHere)('%s is refused elsewhere, and says why', async (words, why) => {
    const refused = run(`${REFUSED[words]} --url https://herald.example`, elsewhere);
    await expect(refused).rejects.toThrow(
      `ended with 2: herald: this command runs on the server only: ${why}. Run it there`,
    );
  });

  it.each([
    ['connection add --workspace x --no-verify --phone-number +15550001234 --token t', '--no-verify'],
    ['otp-sender set --no-verify --template t --token t', '--no-verify'],
  ])('%s is refused elsewhere', async (line, what) => {
    await expect(run(`${line} ${idsOf(codes)}`, elsewhere)).rejects.toThrow(`${what} works on the server only`);
  });

  it('a key or a project is named with its workspace', async () => {
    const { key, project, workspace } = await things();
    for (const line of [`key revoke ${key}`, `key rotate ${key}`, `otp-package list --project ${project}`]) {
      await expect(run(line, elsewhere)).rejects.toThrow('without --workspace works on the server only');
    }
    await expect(run(`workspace delete ${workspace} --dry-run`, elsewhere)).rejects.toThrow(
      '--dry-run works on the server',
    );
  });

  it('writes down the operator key of the call, and on the server the account', async () => {
    const { workspace } = await things();
    await run(`subscription set --workspace ${workspace} --paid-until none`, elsewhere);
    await run(`subscription set --workspace ${workspace} --paid-until 2099-12-31`, here);
    const events = await json<{ actor_kind: string; actor: string }[]>(`audit --workspace ${workspace} --limit 2`);
    expect(events.map(({ actor_kind: kind }) => kind)).toEqual(['operator', 'operator_key']);
    expect(events[1]?.actor).toBe(operator.keyId);
  });

  it('turns the pages of a list', async () => {
    const { workspace } = await things();
    for (let n = 0; n < 101; n++) await admin.test.factories.apiKey({ organizationId: workspace });
    expect(await json<object[]>(`key list --workspace ${workspace}`)).toHaveLength(102);
    expect(await json<object[]>(`audit --limit 3`)).toHaveLength(3);
  });

  describe('data erase', () => {
    afterEach(() => jest.restoreAllMocks());

    it('without --yes counts, and changes nothing', async () => {
      const { workspace, connection } = await things();
      const phone = '15550008841';
      await admin.test.factories.conversation({ connection: { id: connection, organizationId: workspace }, phone });
      const line = `data erase --workspace ${workspace} --number +${phone}`;
      expect(await run(line, elsewhere)).toMatch(/contacts +1\nNothing was erased: this only counts/);
      expect(await json(`${line} --yes`)).toMatchObject({ erased: true, counts: { contacts: 1 } });
      expect(await json(line)).toMatchObject({ erased: false, counts: { contacts: 0 } });
    });

    it('goes on until all is erased, and adds up what each call did', async () => {
      const { workspace } = await things();
      const line = `data erase --workspace ${workspace} --number +15550008842`;
      const part = (waitsFor: string[]) =>
        new ErasureUnfinishedError({ counts: { messages: 2 }, names: 1 }, waitsFor, null);
      const erase = jest.spyOn(admin.test.app.get(Erasure), 'erase');
      erase.mockRejectedValueOnce(part([])).mockRejectedValueOnce(part(['1 message is being sent']));
      expect(await json(`${line} --yes`)).toMatchObject({ erased: true, more: false, counts: { messages: 4 } });
      expect(erase).toHaveBeenCalledTimes(3);
      jest.spyOn(admin.test.app.get(Erasure), 'count').mockRejectedValueOnce(part([]));
      expect(await run(line, elsewhere)).toMatch(/Nothing was erased.* There is more than that/);
    });

    it('fails where what is in progress does not end, and says who goes on', async () => {
      const { workspace } = await things();
      const erase = jest
        .spyOn(admin.test.app.get(Erasure), 'erase')
        .mockRejectedValue(new ErasureUnfinishedError({ counts: {}, names: 1 }, ['1 message is being sent'], null));
      await expect(run(`data erase --workspace ${workspace} --number +15550008843 --yes`, elsewhere)).rejects.toThrow(
        /ended with 1: herald: 1 message is being sent\. A worker goes on with the erasure/,
      );
      expect(erase).toHaveBeenCalledTimes(6);
    });

    it('names the person once', async () => {
      for (const names of ['', ' --number +15550008844 --user-id DE.1795']) {
        await expect(run(`data erase --workspace x${names}`, elsewhere)).rejects.toThrow('ended with 2: herald: name');
      }
    });
  });

  it('an operator key gives no more than it has, and may end itself', async () => {
    const limited = await admin.operator({ scopes: ['operator-keys:write', 'usage:read'] });
    const of = { ...elsewhere, HERALD_OPERATOR_KEY: limited.key };
    await expect(run('operator-key create --name x --scopes all', of)).rejects.toThrow('OPERATOR_KEY_BEYOND');
    const made = JSON.parse(await run('operator-key create --name x --scopes usage:read --json', of)) as { id: string };
    expect(await run(`operator-key revoke ${limited.keyId}`, of)).toBe(`Revoked ${limited.keyId} (test).\n`);
    const events = await json<{ target: string; actor: string }[]>('audit --action operator_key.created --limit 1');
    expect(events).toMatchObject([{ target: made.id, actor: limited.keyId }]);
  });

  it('prints usage as CSV', async () => {
    expect(await run('usage --csv --month 2026-10', elsewhere)).toMatch(/^month,workspace_id,.*unpriced\n$/);
  });

  describe('in a process of its own', () => {
    const list = ['workspace', 'list'];

    it('takes the key from standard input, and prints it nowhere', async () => {
      const { HERALD_OPERATOR_KEY: key = '', HERALD_URL: url = '', ...bare } = elsewhere;
      const done = await runHerald([...list, '--url', url, '--key-stdin'], bare, `${key}\n`);
      expect(done).toMatchObject({ code: 0, stderr: '' });
      expect(done.stdout).toContain('Acme');
      const wrong = await runHerald([...list, '--url', url, '--key-stdin'], bare, `${key.slice(0, -3)}abc\n`);
      expect(wrong).toMatchObject({ code: 1, stdout: '' });
      expect(wrong.stderr).toMatch(/^herald: API_KEY_INVALID: /);
      expect(wrong.stderr).not.toContain(key.slice(0, 30));
      const none = await runHerald([...list, '--url', url], bare);
      expect(none.stderr).toMatch(/no operator key for http:.* set HERALD_OPERATOR_KEY, or .* --key-stdin/);
    });

    it('HERALD_URL alone, which is for the API of messages, leads no operator elsewhere', async () => {
      const done = await runHerald(list, { ...here, HERALD_URL: 'http://127.0.0.1:1' });
      expect(done).toMatchObject({ code: 0, stderr: '' });
    });

    it('says that a key has expired, was revoked, or is one of a workspace', async () => {
      const expired = await admin.operator();
      await admin.test.database.execute(
        `update operator_key set expires_at = now() - interval '1 second' where id = $1`,
        [expired.keyId],
      );
      const revoked = await admin.operator();
      await run(`operator-key revoke ${revoked.keyId}`, here);
      await waitFor(async () => (await revoked.get('/key')).status === 401, { what: 'the key to end' });
      const { key } = await admin.test.sender();
      const ends = [
        [expired.key, 'API_KEY_EXPIRED'],
        [revoked.key, 'API_KEY_REVOKED'],
        [key.text, 'OPERATOR_KEY_REQUIRED'],
      ] as const;
      for (const [given, code] of ends) {
        const refused = await runHerald(list, { ...elsewhere, HERALD_OPERATOR_KEY: given });
        expect(refused).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(`^herald: ${code}: `) });
      }
    });

    it('a key that is limited to two workspaces sees these, and makes none', async () => {
      const [one, two, other] = [await things(), await things(), await things()];
      const limited = await admin.operator({ workspaceIds: [one.workspace, two.workspace] });
      const of = { ...elsewhere, HERALD_OPERATOR_KEY: limited.key };
      const seen = JSON.parse((await runHerald([...list, '--json'], of)).stdout) as { id: string }[];
      expect(seen.map(({ id }) => id).sort()).toEqual([one.workspace, two.workspace].sort());
      const foreign = await runHerald(['workspace', 'show', other.workspace], of);
      expect(foreign).toMatchObject({ code: 1, stdout: '' });
      expect(foreign.stderr).toMatch(
        /^herald: WORKSPACE_NOT_FOUND: There is no such workspace, or the operator key may not/,
      );
      const made = await runHerald(['workspace', 'create', '--name', 'x', '--json'], of);
      expect(made.code).toBe(1);
      expect(JSON.parse(made.stdout)).toMatchObject({ error: { code: 'OPERATOR_KEY_LIMITED' } });
    });

    it('names the scope that is missing', async () => {
      const reader = await admin.operator({ scopes: ['usage:read'] });
      const refused = await runHerald(list, { ...elsewhere, HERALD_OPERATOR_KEY: reader.key });
      expect(refused.stderr).toMatch(/^herald: SCOPE_REQUIRED: .*workspaces:read/);
    });
  });

  describe('where no Herald of this release answers', () => {
    const servers: Server[] = [];
    afterAll(() => servers.forEach((server) => server.close()));

    async function listening(server: Server): Promise<number> {
      servers.push(server);
      server.listen(0, '127.0.0.1');
      await once(server, 'listening');
      return (server.address() as AddressInfo).port;
    }
    const failure = (url: string) => run(`workspace list --url ${url}`, elsewhere);

    it('nothing listens there', async () => {
      const server = createServer();
      const url = `http://127.0.0.1:${await listening(server)}`;
      server.close();
      await expect(failure(url)).rejects.toThrow(
        `ended with 1: herald: Herald does not answer at ${url} (ECONNREFUSED): is it running, and is the address right?`,
      );
    });

    it('another program answers', async () => {
      const port = await listening(createServer((_req, res) => res.writeHead(404).end('<h1>Not found</h1>')));
      await expect(failure(`http://127.0.0.1:${port}`)).rejects.toThrow(
        'UNEXPECTED_ANSWER: the answer was 404: is this address a Herald?',
      );
    });

    it('an older one does not know the route', async () => {
      const error = {
        code: 'ROUTE_NOT_FOUND',
        message: 'No.',
        request_id: 'r',
        doc_url: 'https://herald.example/docs',
      };
      const key = { id: 'k', name: 'old', scopes: [], workspace_ids: null, expires_at: null, version: '0.0.9' };
      let knowsKeys = true;
      const old = createServer((req, res) => {
        const isKnown = knowsKeys && req.url === '/api/admin/v1/key';
        res.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
        res.end(JSON.stringify(isKnown ? { data: key } : { error }));
      });
      const url = `http://127.0.0.1:${await listening(old)}`;
      await expect(failure(url)).rejects.toThrow(
        /the service at \S+ is Herald 0\.0\.9, this command is .*\n.*the service at \S+ is Herald 0\.0\.9 and does not know this call.* Upgrade/,
      );
      knowsKeys = false;
      await expect(failure(url)).rejects.toThrow(
        /has no admin API: it is an older Herald, or runs with ADMIN_API=false/,
      );
    });

    it('its certificate is not trusted', async () => {
      const port = await listening(createSecureServer(selfSigned({ names: ['localhost'] }), (_req, res) => res.end()));
      await expect(failure(`https://localhost:${port}`)).rejects.toThrow(
        /the certificate of https:\/\/localhost:\d+ is not trusted here \(\w+\): .* NODE_EXTRA_CA_CERTS=<file>/,
      );
    });

    it('the way there is not encrypted: the key stays here', async () => {
      await expect(failure('http://herald.example')).rejects.toThrow(
        /http:\/\/herald\.example is not encrypted.* https address/,
      );
    });
  });
});
