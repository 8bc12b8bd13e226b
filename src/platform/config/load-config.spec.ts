import { loadConfig, type ConfigError } from './load-config.js';

const PRODUCTION = {
  NODE_ENV: 'production',
  ROLES: 'worker',
  DATABASE_URL: 'postgres://db/herald',
  WHATSAPP_API_URL: 'https://graph.test',
  WHATSAPP_APP_SECRET: 'a',
  WHATSAPP_VERIFY_TOKEN: 'b',
  ENCRYPTION_KEYS: `1:${Buffer.alloc(32).toString('base64')}`,
};

function load(settings: Record<string, string>) {
  return loadConfig({ env: { ...PRODUCTION, ...settings }, persistSecrets: false });
}

function faultsOf(settings: Record<string, string>): string[] {
  try {
    load(settings);
    return [];
  } catch (error) {
    return (error as ConfigError).faults;
  }
}

describe('SEND_LEASE_MS', () => {
  it('is 20 s, or what is set', () => {
    expect(load({}).limits.sendLeaseMs).toBe(20_000);
    expect(load({ SEND_LEASE_MS: '30000' }).limits.sendLeaseMs).toBe(30_000);
  });

  it('is refused in production where a short pause of a worker would outlast it', () => {
    const short = { SEND_LEASE_MS: '5000', WHATSAPP_TIMEOUT_MS: '3000' };
    expect(faultsOf(short)).toEqual(['SEND_LEASE_MS must be at least 10000 in production; shorter ones are for tests']);
    expect(faultsOf({ ...short, NODE_ENV: 'test' })).toEqual([]);
  });

  it('is refused where an answer may come after it', () => {
    const expected = ['SEND_LEASE_MS must be more than WHATSAPP_TIMEOUT_MS'];
    expect(faultsOf({ SEND_LEASE_MS: '15000' })).toEqual(expected);
    expect(faultsOf({ NODE_ENV: 'test', SEND_LEASE_MS: '5000' })).toEqual(expected);
  });
});

describe('a start in production', () => {
  it('needs no more than this', () => {
    expect(faultsOf({})).toEqual([]);
  });

  it.each([
    ['DEMO', 'true', 'DEMO must not be true in production'],
    ['ROLES', 'api,simulator', 'ROLES must not contain simulator in production'],
    ['WEBHOOK_ALLOW_PRIVATE_TARGETS', 'true', 'WEBHOOK_ALLOW_PRIVATE_TARGETS must not be true in production'],
  ])('refuses the switch for development %s=%s', (name, value, fault) => {
    expect(faultsOf({ [name]: value })).toEqual([fault]);
    expect(faultsOf({ NODE_ENV: 'development', [name]: value })).toEqual([]);
  });

  it.each(Object.keys(PRODUCTION).filter((name) => name !== 'NODE_ENV'))('refuses to guess %s', (name) => {
    expect(faultsOf({ [name]: '' })).toEqual([`${name} must be set in production`]);
  });

  it('has no demo and no description, and drains before it stops; elsewhere it is the other way round', () => {
    expect(load({}).process).toMatchObject({ demo: false, docs: false, shutdownDrainMs: 2_000, host: '0.0.0.0' });
    const elsewhere = load({ NODE_ENV: 'development', DATABASE_URL: '' });
    expect(elsewhere.process).toMatchObject({ demo: true, docs: true, shutdownDrainMs: 0, host: '127.0.0.1' });
  });
});
