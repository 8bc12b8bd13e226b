import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ConfigError, loadClientConfig, loadConfig, type LoadConfigOptions } from './load-config.js';

const PRODUCTION = {
  NODE_ENV: 'production',
  ROLES: 'api',
  DATABASE_URL: 'postgres://db/herald',
  WHATSAPP_API_URL: 'https://graph.test',
  WHATSAPP_APP_SECRET: '4f6a0c51d8e7b2939f6a0c51d8e7b293',
  WHATSAPP_VERIFY_TOKEN: 'lighthouse',
  ENCRYPTION_KEYS: '1:q5Xk7M1zVYt0c8mBq2JQ0hZ1nE4pWvX9aL3sD6fGhUo=',
};
const WORKER = { ROLES: 'worker', WHATSAPP_APP_SECRET: '', WHATSAPP_VERIFY_TOKEN: '' };

function load(settings: Record<string, string>, required?: LoadConfigOptions['required']) {
  return loadConfig({ env: { ...PRODUCTION, ...settings }, persistSecrets: false, required });
}

function violationsOf(settings: Record<string, string>): string[] {
  try {
    load(settings);
    return [];
  } catch (error) {
    return (error as ConfigError).violations;
  }
}

function keyOf(byte: (index: number) => number): string {
  return `1:${Buffer.from(Array.from({ length: 32 }, (_, index) => byte(index))).toString('base64')}`;
}

describe('the table', () => {
  it('gives each setting its type, and knows no other', () => {
    const { limits, database } = load({ BACKLOG_LIMIT: '5' });
    const backlog: number = limits.backlog;
    const url: string | null = database.url;
    expect([backlog, url]).toEqual([5, PRODUCTION.DATABASE_URL]);
    // @ts-expect-error a field that the table does not have
    expect(limits.backlogs).toBeUndefined();
    // @ts-expect-error a setting that the table does not have
    expect(() => load({}, ['DATABASE_ULR'])).not.toThrow();
  });

  it('reports everything that is wrong together', () => {
    const wrong = { PORT: '70000', LOG_LEVEL: 'loud', DEMO: 'yes', DATABASE_URL: 'here', ROLES: 'api,cook', HOST: '' };
    expect(violationsOf({ NODE_ENV: 'test', ...wrong })).toEqual([
      'ROLES must be made of api, worker, simulator',
      'PORT must be from 0 to 65535',
      'LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent',
      'DEMO must be true or false',
      `DATABASE_URL ${POSTGRES}`,
    ]);
  });
});

const POSTGRES =
  'must be a URL that begins with postgres:// or postgresql://, such as postgres://user:password@host:5432/herald';
const REDIS = 'must be a URL that begins with redis:// or rediss://, such as redis://:password@host:6379';

describe('connection strings', () => {
  const credentials = 'has one of @ # / ? in its user or password, which must be percent-encoded: %40, %23, %2F, %3F';

  it.each([
    ['postgres://herald:pa@ss/word@db/herald', credentials],
    ['postgres://herald:12#ab@db/herald', credentials],
    ['postgres://herald:pa?ss@db/herald', credentials],
    ['postgres://herald:pa%ss@db/herald', 'has a percent sign that encodes nothing in its user or password; write %25'],
  ])('refuse %s without naming a part of the password', (url, violation) => {
    const redisUrl = url.replace('postgres:', 'redis:');
    expect(violationsOf({ DATABASE_URL: url, DATABASE_DIRECT_URL: url, REDIS_URL: redisUrl })).toEqual([
      `DATABASE_URL ${violation}`,
      `DATABASE_DIRECT_URL ${violation}`,
      `REDIS_URL ${violation}`,
    ]);
  });

  it.each([
    'mysql://herald:hush@db/herald',
    'http://herald:hush@db:5432/herald',
    'postgres:herald:hush@db/herald',
    'herald:hush@db/herald',
    'db.example.com',
  ])('refuse %s, which is of another server or of none', (url) => {
    expect(violationsOf({ DATABASE_URL: url, DATABASE_DIRECT_URL: url, REDIS_URL: url })).toEqual([
      `DATABASE_URL ${POSTGRES}`,
      `DATABASE_DIRECT_URL ${POSTGRES}`,
      `REDIS_URL ${REDIS}`,
    ]);
  });

  it('refuse each the other one', () => {
    const [database, redis] = ['postgres://herald:hush@db/herald', 'rediss://:hush@cache:6380'];
    expect(violationsOf({ DATABASE_URL: redis, REDIS_URL: database })).toEqual([
      `DATABASE_URL ${POSTGRES}`,
      `REDIS_URL ${REDIS}`,
    ]);
    expect(load({ DATABASE_URL: 'postgresql://db/herald', REDIS_URL: redis }).queue.redisUrl).toBe(redis);
  });

  it('refuse a port that is none, and say what one looks like', () => {
    expect(violationsOf({ DATABASE_URL: 'postgres://db:x/herald', REDIS_URL: 'redis://cache:99999' })).toEqual([
      'DATABASE_URL must be a URL such as postgres://user:password@host:5432/herald',
      'REDIS_URL must be a URL such as redis://:password@host:6379',
    ]);
  });

  it.each(['postgres://herald:pa%40s%23s@db:5433/herald?sslmode=require', 'postgres:///herald?host=/var/run'])(
    'take %s as it is',
    (url) => expect(load({ DATABASE_URL: url }).database.url).toBe(url),
  );
});

describe('addresses', () => {
  const settings = [
    'PUBLIC_URL',
    'WHATSAPP_API_URL',
    'MEDIA_S3_ENDPOINT',
    'OTEL_EXPORTER_OTLP_ENDPOINT',
    'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT',
  ];

  it.each([
    ['ftp://host/path', 'must be a URL that begins with http:// or https://'],
    ['http:host', 'must be a URL that begins with http:// or https://'],
    ['host:4318', 'must be a URL that begins with http:// or https://'],
    ['https://herald:hush@host', 'must have no user and no password'],
    ['https://host/path?key=hush', 'must have nothing behind a ? or #'],
  ])('refuse %s by name, and show no part of it', (url, violation) => {
    const env = { NODE_ENV: 'test', ...Object.fromEntries(settings.map((name) => [name, url])) };
    // The whole address for traces is taken as it is.
    const refused = url.includes('?') ? settings.slice(0, -1) : settings;
    expect(violationsOf(env).sort()).toEqual(refused.map((name) => `${name} ${violation}`).sort());
  });
});

it('a stop in production outlasts a request to the platform', () => {
  const violation =
    'SHUTDOWN_TIMEOUT_MS must be more than WHATSAPP_TIMEOUT_MS in production, or a stop cuts off messages in flight';
  expect(violationsOf({ ROLES: 'worker', SHUTDOWN_TIMEOUT_MS: '15000' })).toEqual([violation]);
  expect(violationsOf({ ROLES: 'worker' })).toEqual([]);
  expect(violationsOf({ ROLES: 'api', SHUTDOWN_TIMEOUT_MS: '15000' })).toEqual([]);
});

it('a role that does not exist says nothing of the simulator', () => {
  expect(violationsOf({ ROLES: 'apii' })).toEqual(['ROLES must be made of api, worker, simulator']);
});

it.each(['app.example.com', 'https://app.example.com/path', 'https://a@b.example', 'ftp://a.example', '*'])(
  'SETUP_RETURN_ORIGINS=%s is no origin',
  (origin) => {
    expect(violationsOf({ SETUP_RETURN_ORIGINS: origin })).toEqual([
      'SETUP_RETURN_ORIGINS must be made of origins such as https://app.example.com, without a path',
    ]);
  },
);

describe('TRUST_PROXY', () => {
  it.each(['nginx', '10.0.0.0/8/8', '10.0.0.0/255.0.255.0', '300.1.1.1', '10.0.0.1,', '1.2.3.4/x'])(
    'is refused as %s',
    (value) => {
      const fault = 'TRUST_PROXY must be false, a number of hops, or addresses separated by commas';
      expect(violationsOf({ NODE_ENV: 'development', TRUST_PROXY: value })).toEqual([fault]);
    },
  );
});

describe('SEND_LEASE_MS', () => {
  it('is 20 s, or what is set', () => {
    expect(load({}).limits.sendLeaseMs).toBe(20_000);
    expect(load({ SEND_LEASE_MS: '30000' }).limits.sendLeaseMs).toBe(30_000);
  });

  it('is refused in production where a short pause of a worker would outlast it', () => {
    const short = { SEND_LEASE_MS: '5000', WHATSAPP_TIMEOUT_MS: '3000' };
    expect(violationsOf(short)).toEqual([
      'SEND_LEASE_MS must be at least 10000 in production; shorter ones are for tests',
    ]);
    expect(violationsOf({ ...short, NODE_ENV: 'test' })).toEqual([]);
  });

  it('is refused where an answer may come after it', () => {
    const expected = ['SEND_LEASE_MS must be more than WHATSAPP_TIMEOUT_MS'];
    expect(violationsOf({ SEND_LEASE_MS: '15000' })).toEqual(expected);
    expect(violationsOf({ NODE_ENV: 'test', SEND_LEASE_MS: '5000' })).toEqual(expected);
  });
});

describe('files in S3', () => {
  const S3 = { MEDIA_STORAGE: 's3', MEDIA_S3_BUCKET: 'herald-media' };

  it('need a bucket, and no more', () => {
    expect(load({}).media.storages).toEqual(['folder']);
    expect(violationsOf(S3)).toEqual([]);
    expect(load({ ...S3, MEDIA_STORAGE: 's3,folder' }).media.storages).toEqual(['s3', 'folder']);
    expect(violationsOf({ MEDIA_STORAGE: 's3' })).toEqual([
      'MEDIA_S3_BUCKET must be set, for MEDIA_STORAGE names s3: the name of a bucket that is there',
    ]);
  });

  it('have the bucket in the path where the store is not Amazon, and a prefix that ends', () => {
    const { pathStyle, prefix } = load({ ...S3, MEDIA_S3_ENDPOINT: 'http://10.0.0.5:9000', MEDIA_S3_PREFIX: 'a/b' }).s3;
    expect([pathStyle, prefix, load(S3).s3.pathStyle, load(S3).s3.prefix]).toEqual([true, 'a/b/', false, '']);
    expect(load({ ...S3, MEDIA_S3_ENDPOINT: 'https://s3.test', MEDIA_S3_PATH_STYLE: 'false' }).s3.pathStyle).toBe(
      false,
    );
  });

  it.each([
    [{ MEDIA_STORAGE: 's3,tape' }, 'MEDIA_STORAGE must be folder, s3, or both'],
    [{ MEDIA_STORAGE: 's3,s3' }, 'MEDIA_STORAGE must be folder, s3, or both'],
    [{ MEDIA_S3_BUCKET: 's3://herald-media/x' }, 'MEDIA_S3_BUCKET must be the name of the bucket alone'],
    [{ MEDIA_S3_ENDPOINT: 'minio:9000' }, 'MEDIA_S3_ENDPOINT must be a URL that begins with http:// or https://'],
    [{ MEDIA_S3_ENDPOINT: 'https://key:word@s3.test' }, 'MEDIA_S3_ENDPOINT must have no user'],
    [{ MEDIA_S3_PREFIX: '/herald' }, 'MEDIA_S3_PREFIX must be made of'],
    [{ MEDIA_S3_PREFIX: 'a/../b' }, 'MEDIA_S3_PREFIX must be made of'],
    [{ MEDIA_S3_ACCESS_KEY_ID: 'AKIA1' }, 'MEDIA_S3_SECRET_ACCESS_KEY must be set with MEDIA_S3_ACCESS_KEY_ID'],
    [{ MEDIA_S3_SECRET_ACCESS_KEY: 'hush' }, 'MEDIA_S3_ACCESS_KEY_ID must be set with MEDIA_S3_SECRET_ACCESS_KEY'],
    [{ MEDIA_S3_ENCRYPTION: 'kms' }, 'MEDIA_S3_ENCRYPTION must be one of none, AES256, aws:kms'],
    [{ MEDIA_S3_KMS_KEY_ID: 'key-1' }, 'MEDIA_S3_KMS_KEY_ID is of use with MEDIA_S3_ENCRYPTION=aws:kms only'],
  ])('say what to do about %j', (settings, violation) => {
    const violations = violationsOf({ ...S3, ...settings });
    expect(violations).toContainEqual(expect.stringContaining(violation));
    expect(violations.join()).not.toMatch(/hush|word@/);
  });
});

describe('a setting in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'herald-settings-'));
  const write = (name: string, text: string): string => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };

  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('may be any of them, without the newline at the end', () => {
    const files = {
      DATABASE_URL_FILE: write('url', 'postgres://other/herald\n'),
      ROLES_FILE: write('roles', ' worker\r\n'),
      BACKLOG_LIMIT_FILE: write('limit', '7'),
    };
    const { database, process, limits } = load({ DATABASE_URL: '', ROLES: '', ...files });
    expect([database.url, process.roles, limits.backlog]).toEqual(['postgres://other/herald', ['worker'], 7]);
    expect(loadClientConfig({ HERALD_API_KEY_FILE: write('key', 'secret\n') }).apiKey).toBe('secret');
  });

  it('decides what production asks for, too', () => {
    const env = { ...PRODUCTION, NODE_ENV: '', NODE_ENV_FILE: write('environment', 'production\n') };
    expect(loadConfig({ env, persistSecrets: false }).process.production).toBe(true);
    expect(violationsOf({ METRICS_TOKEN_FILE: write('token', 'x\n') })).toEqual([
      expect.stringMatching(/^METRICS_TOKEN must be at least 16 random characters/),
    ]);
  });

  it('is refused beside the setting itself', () => {
    expect(violationsOf({ DATABASE_URL_FILE: write('url', 'postgres://other/herald') })).toEqual([
      'DATABASE_URL and DATABASE_URL_FILE are both set; set one of them',
    ]);
  });

  it('is refused by its name and path where it cannot be read, is empty or is no setting', () => {
    const none = join(folder, 'none');
    const empty = write('empty', ' \n');
    const large = write('large', 'x'.repeat(65_537));
    const files = {
      DATABASE_URL_FILE: none,
      ROLES_FILE: empty,
      HOST_FILE: folder,
      LOG_LEVEL_FILE: '/dev/zero',
      METRICS_TOKEN_FILE: large,
    };
    // Their places: of those that production asks for, it does not say that they are missing.
    expect(violationsOf({ DATABASE_URL: '', ROLES: '', ...files })).toEqual([
      `ROLES_FILE names ${empty}, which is empty`,
      `HOST_FILE names ${folder}, which can't be read: it is not a regular file`,
      `LOG_LEVEL_FILE names /dev/zero, which can't be read: it is not a regular file`,
      `DATABASE_URL_FILE names ${none}, which can't be read: ENOENT: no such file or directory`,
      `METRICS_TOKEN_FILE names ${large}, which can't be read: it has 65537 bytes, more than 65536`,
    ]);
  });

  it('shows nothing of a secret that it holds', () => {
    const [violation] = violationsOf({ ENCRYPTION_KEYS: '', ENCRYPTION_KEYS_FILE: write('keys', '1:abc\n') });
    expect(violation).toMatch(/^ENCRYPTION_KEYS must be made of version:base64/);
    expect(violation).not.toContain('1:abc');
  });
});

describe('a start in production', () => {
  it('needs no more than this', () => {
    expect(violationsOf({})).toEqual([]);
  });

  it.each([
    ['DEMO', 'true', 'DEMO must not be true in production'],
    ['ROLES', 'api,simulator', 'ROLES must not contain simulator in production'],
    ['WEBHOOK_ALLOW_PRIVATE_TARGETS', 'true', 'WEBHOOK_ALLOW_PRIVATE_TARGETS must not be true in production'],
  ])('refuses the switch for development %s=%s', (name, value, fault) => {
    expect(violationsOf({ [name]: value })).toEqual([fault]);
    expect(violationsOf({ NODE_ENV: 'development', [name]: value })).toEqual([]);
  });

  it.each(Object.keys(PRODUCTION).filter((name) => name !== 'NODE_ENV'))('refuses to guess %s', (name) => {
    expect(violationsOf({ [name]: '' })).toEqual([`${name} must be set in production`]);
  });

  it('needs what checks notifications only where they come in', () => {
    expect(violationsOf(WORKER)).toEqual([]);
    expect(load(WORKER).whatsapp).toMatchObject({ appSecrets: [], verifyToken: '' });
    expect(violationsOf({ ...WORKER, ROLES: 'api,worker' })).toHaveLength(2);
  });

  it('needs for a migration nothing but the database', () => {
    const env = { NODE_ENV: 'production', DATABASE_URL: 'postgres://db/herald' };
    const migration = { persistSecrets: false, required: ['DATABASE_URL'] as const };
    expect(loadConfig({ env, ...migration }).security.encryptionKeys).toEqual([]);
    expect(() => loadConfig({ env: { NODE_ENV: 'production' }, ...migration })).toThrow('DATABASE_URL must be set');
  });

  it.each([
    ['WHATSAPP_API_URL', 'http://graph.facebook.com', /^WHATSAPP_API_URL must begin with https:\/\//],
    ['WHATSAPP_API_URL', 'http://127.0.0.1:3001', /^WHATSAPP_API_URL must begin with https:\/\//],
    ['TRUST_PROXY', 'true', /^TRUST_PROXY must not trust every address .* such as 1, or their addresses$/],
    ['TRUST_PROXY', '99', /^TRUST_PROXY must not trust every address/],
    ['TRUST_PROXY', '10.0.0.1, 0.0.0.0/0', /^TRUST_PROXY must not trust every address/],
    ['TRUST_PROXY', '::/0', /^TRUST_PROXY must not trust every address/],
    ['TRUST_PROXY', '128.0.0.0/128.0.0.0', /^TRUST_PROXY must not trust every address/],
    ['METRICS_TOKEN', 'x', /^METRICS_TOKEN must be at least 16 random characters .* openssl rand/],
    ['METRICS_TOKEN', 'x'.repeat(40), /^METRICS_TOKEN must be at least 16 random characters/],
    ['WHATSAPP_APP_SECRET', 'x', /^WHATSAPP_APP_SECRET must be at least 16 random characters/],
    ['WHATSAPP_APP_SECRET', `${PRODUCTION.WHATSAPP_APP_SECRET}, old`, /^WHATSAPP_APP_SECRET must be at least 16/],
    ['WHATSAPP_VERIFY_TOKEN', 'x', /^WHATSAPP_VERIFY_TOKEN must be at least 8 random characters/],
    ['ENCRYPTION_KEYS', keyOf(() => 0), /^ENCRYPTION_KEYS must be random; .* version 1 with openssl rand -base64 32$/],
    ['ENCRYPTION_KEYS', keyOf((index) => index), /^ENCRYPTION_KEYS must be random/],
    ['ENCRYPTION_KEYS', keyOf((index) => 'secret'.charCodeAt(index % 6)), /^ENCRYPTION_KEYS must be random/],
    ['NODE_TLS_REJECT_UNAUTHORIZED', '0', /^NODE_TLS_REJECT_UNAUTHORIZED must not be 0/],
  ])('refuses the weak setting %s=%s', (name, value, fault) => {
    expect(violationsOf({ [name]: value })).toEqual([expect.stringMatching(fault)]);
    if (!/\/0|128/.test(value)) expect(violationsOf({ NODE_ENV: 'development', [name]: value })).toEqual([]);
  });

  it('names all of them at once, and no secret', () => {
    const secret = 'aa-1';
    const weak = { WHATSAPP_APP_SECRET: secret, METRICS_TOKEN: secret, WHATSAPP_VERIFY_TOKEN: secret };
    const faults = violationsOf({ ...weak, ENCRYPTION_KEYS: keyOf(() => 7), TRUST_PROXY: 'true', DEMO: 'true' });
    expect(faults).toHaveLength(6);
    expect(faults.join()).not.toContain(secret);
    expect(faults.join()).not.toContain('BwcH');
  });

  it('takes every random key, and proxies by their number or addresses', () => {
    for (let n = 0; n < 1_000; n++)
      expect(violationsOf({ ENCRYPTION_KEYS: `1:${randomBytes(32).toString('base64')}` })).toEqual([]);
    for (const proxies of [
      'false',
      '1',
      '2',
      'loopback',
      '10.0.0.0/8, 192.168.1.1',
      '10.0.0.0/255.0.0.0',
      'fd00::/8',
    ]) {
      expect([proxies, ...violationsOf({ TRUST_PROXY: proxies })]).toEqual([proxies]);
    }
  });

  it('has no demo and no description, and drains before it stops; elsewhere it is the other way round', () => {
    expect(load({}).process).toMatchObject({ demo: false, docs: false, shutdownDrainMs: 2_000, host: '0.0.0.0' });
    const elsewhere = load({ NODE_ENV: 'development', DATABASE_URL: '' });
    expect(elsewhere.process).toMatchObject({ demo: true, docs: true, shutdownDrainMs: 0, host: '127.0.0.1' });
  });
});

describe('traces', () => {
  it.each([
    [{}, null],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }, 'http://collector:4318/v1/traces'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/otlp' }, 'http://collector:4318/otlp/v1/traces'],
    [
      { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4318', OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://b/traces' },
      'https://b/traces',
    ],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:4318', OTEL_SDK_DISABLED: 'true' }, null],
  ])('go where the settings say: %j', (settings, url) => {
    expect(load(settings).tracing.url).toBe(url);
  });

  it('takes names and values as the specification writes them', () => {
    const { tracing } = load({
      OTEL_EXPORTER_OTLP_HEADERS: 'Authorization=Basic%20YWJj==, x-tenant = a%2Cb',
      OTEL_RESOURCE_ATTRIBUTES: 'k8s.pod.name=herald-0,empty=',
    });
    expect(tracing.headers).toEqual({ Authorization: 'Basic YWJj==', 'x-tenant': 'a,b' });
    expect(tracing.resourceAttributes).toEqual({ 'k8s.pod.name': 'herald-0', empty: '' });
  });

  it.each([
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'verysecret' }, /^OTEL_EXPORTER_OTLP_HEADERS must be made of name=value/],
    [{ OTEL_EXPORTER_OTLP_HEADERS: 'a=verysecret%' }, /^OTEL_EXPORTER_OTLP_HEADERS has a percent sign/],
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }, /^OTEL_EXPORTER_OTLP_PROTOCOL must be one of http\/protobuf, http\/json/],
    [{ OTEL_TRACES_SAMPLER_ARG: '2' }, /^OTEL_TRACES_SAMPLER_ARG must be from 0 to 1/],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, /^OTEL_EXPORTER_OTLP_ENDPOINT must be a URL/],
  ])('refuses what cannot be meant, and names no secret: %j', (settings, violation) => {
    expect(violationsOf(settings)).toEqual([expect.stringMatching(violation)]);
    expect(violationsOf(settings)[0]).not.toContain('verysecret');
  });
});
