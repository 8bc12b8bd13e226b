import type { IncomingMessage } from 'node:http';
import { changedConfig, type Config } from '../../config/config.js';
import { loadConfig } from '../../config/load-config.js';
import { DocsDemo } from './docs.js';

const KEYS = { api_key: 'hrld_live_demo', otp_sandbox_key: 'hrld_test_demo' };
const config = loadConfig({ env: {}, persistSecrets: false });

function demoWith(process: Partial<Config['process']>): DocsDemo {
  const demo = new DocsDemo(changedConfig(config, { process: { ...config.process, ...process } }));
  demo.offer(KEYS);
  return demo;
}

function call(remoteAddress: string, headers: Record<string, string> = {}): IncomingMessage {
  return { headers: { host: 'localhost:3000', ...headers }, socket: { remoteAddress } } as unknown as IncomingMessage;
}

describe('the keys of the demo in Swagger UI', () => {
  it.each(['127.0.0.1', '::1', '::ffff:127.0.0.1', '127.8.9.1'])('go to a browser on this machine (%s)', (address) => {
    expect(demoWith({ demo: true }).keysFor(call(address, { 'sec-fetch-site': 'same-origin' }))).toEqual(KEYS);
  });

  it.each([
    ['another machine', call('10.0.0.7')],
    ['a name that leads here', call('127.0.0.1', { host: 'rebound.example' })],
    ['a name that begins like ours', call('127.0.0.1', { host: 'localhost.example' })],
    ['a page of another origin', call('127.0.0.1', { 'sec-fetch-site': 'cross-site' })],
    ['a proxy on this machine', call('127.0.0.1', { 'x-forwarded-for': '203.0.113.9' })],
    ['a proxy that says only Via', call('127.0.0.1', { via: '1.1 proxy' })],
    ['no host at all', call('127.0.0.1', { host: '' })],
  ])('do not go to %s', (_who, request) => {
    expect(demoWith({ demo: true }).keysFor(request)).toBeNull();
  });

  it('are not served in production, nor without a demo', () => {
    expect(demoWith({ demo: true, production: true }).keysFor(call('127.0.0.1'))).toBeNull();
    expect(demoWith({ demo: false }).keysFor(call('127.0.0.1'))).toBeNull();
    expect(new DocsDemo(config).keysFor(call('127.0.0.1'))).toBeNull();
  });
});
