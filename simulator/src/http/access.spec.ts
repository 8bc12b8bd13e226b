import { request } from 'undici';
import { PHONE_NUMBER_ID, type SimulatorRig, startRig } from '../../../test/support/simulator/simulator-rig.js';
import { isTrustedHost } from './access.js';

describe('calls that pages of other sites can make a browser send', () => {
  let rig: SimulatorRig;

  beforeAll(async () => {
    rig = await startRig({ hostNames: ['simulator'] });
  });
  afterAll(() => rig.stop());

  async function call(path: string, headers: Record<string, string>, body?: string): Promise<number> {
    const method = body === undefined ? 'GET' : 'POST';
    const response = await request(`${rig.url}${path}`, { method, headers, body });
    await response.body.dump();
    return response.statusCode;
  }

  it.each(['/_simulator/messages', `/v26.0/${PHONE_NUMBER_ID}`])(
    '%s is not answered under a foreign name',
    async (path) => {
      const under = (host: string) => call(path, { host, authorization: 'Bearer token' });
      expect(await under('evil.example')).toBe(403);
      expect(await under(`evil.example:${new URL(rig.url).port}`)).toBe(403);
      for (const host of ['localhost', '127.0.0.1:3001', '[::1]', '192.168.7.7:80', 'simulator:3001']) {
        expect([host, await under(host)]).toEqual([host, 200]);
      }
    },
  );

  it('of a proxy with TLS in front are its own', async () => {
    const headers = { 'x-forwarded-proto': 'https', host: 'simulator', 'content-type': 'application/json' };
    expect(await call('/_simulator/reset', { ...headers, origin: 'https://simulator' }, '{}')).toBe(200);
    expect(await call('/_simulator/reset', { ...headers, origin: 'http://simulator' }, '{}')).toBe(403);
    expect(
      await call('/_simulator/reset', { ...headers, host: 'evil.example', origin: 'https://evil.example' }, '{}'),
    ).toBe(403);
  });

  it('control takes bodies as application/json only', async () => {
    const fault = '{"latency_ms":1}';
    const types = [
      'text/plain',
      'application/x-www-form-urlencoded',
      'multipart/form-data; boundary=x',
      'application/jsonx',
    ];
    for (const type of types) expect(await call('/_simulator/faults', { 'content-type': type }, fault)).toBe(415);
    expect(await call('/_simulator/faults', {}, fault)).toBe(415);
    expect(rig.simulator.faults.latency_ms).toBe(0);
    expect(await call('/_simulator/faults', { 'content-type': 'Application/JSON; charset=utf-8' }, fault)).toBe(200);
    expect(rig.simulator.faults.latency_ms).toBe(1);
    expect(await call('/_simulator/reset', {}, '')).toBe(200);
    expect(rig.simulator.faults.latency_ms).toBe(0);
  });

  it.each([
    ['/_simulator/reset', ''],
    [
      `/v26.0/${PHONE_NUMBER_ID}/messages?access_token=token`,
      '{"messaging_product":"whatsapp","to":"+4915112345678","type":"text","text":{"body":"x"}}',
    ],
  ])('%s changes nothing for another origin', async (path, body) => {
    const from = (origin: string) => call(path, { origin, 'content-type': 'application/json' }, body);
    expect(await from('https://evil.example')).toBe(403);
    expect(await from('http://localhost:1')).toBe(403);
    expect(await from('null')).toBe(403);
    expect(rig.simulator.messages.count).toBe(0);
    expect(await from(rig.url)).toBe(200);
  });
});

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
