import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import pg from 'pg';
import { loadConfig } from '../../src/infrastructure/config/load-config.js';
import { migrate } from '../../src/infrastructure/database/migrate.js';
import { listSettings } from '../../src/infrastructure/config/settings.js';
import { slugOf } from '../docs/markdown.js';
import { filesUnder, readProjectFile, ROOT } from '../support/project-files.js';

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
  env_file?: { path: string }[];
  networks?: string[];
  secrets?: string[];
  restart?: string;
  ports?: string[];
  expose?: string[];
  healthcheck?: { disable?: boolean };
  depends_on?: Record<string, { condition: string }>;
  deploy?: { replicas?: number; resources?: { limits?: { cpus?: string; memory?: string } } };
  user?: string;
  read_only?: boolean;
  cap_drop?: string[];
}

const compose = parseYaml(readProjectFile('compose.yaml')) as {
  name: string;
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
  networks: Record<string, { internal?: boolean } | null>;
};
const dockerfile = readProjectFile('Dockerfile');
const settings = listSettings().map(({ setting }) => setting);
const names = new Set<string>(settings.flatMap(({ name }) => [name, `${name}_FILE`]));
const secrets = new Set<string>(settings.filter(({ options }) => options.secret === true).map(({ name }) => name));
const services = Object.entries(compose.services);
const own = services.filter(([, { image }]) => image === 'herald:latest');

/** Words in capitals that are others' settings, or no settings. */
const NOT_OURS = new Set([
  'BRIDGE_URL',
  'CADDY_METRICS_SITE',
  'CHATWOOT_ACCOUNT_ID',
  'CHATWOOT_TOKEN',
  'CHATWOOT_URL',
  'POSTGRES_PASSWORD',
  'DATABASE_PASSWORD',
  'DATABASE_HOST',
  'REDIS_PASSWORD',
  'GRAFANA_PASSWORD',
  'HERALD_OTP_KEY',
  'HERALD_SITE',
  'HTTP_PORT',
  'HTTPS_PORT',
  'NODE_EXTRA_CA_CERTS',
  'NODE_OPTIONS',
  'NODE_TLS_REJECT_UNAUTHORIZED',
  'PHONE_NUMBER_ID',
  'WA_BASE_URL',
  'WEBHOOK_SECRET',
]);

describe('compose.yaml', () => {
  it('runs two api, two workers and a step that migrates before them', () => {
    expect(own.map(([name]) => name).sort()).toEqual(['api', 'migrate', 'worker']);
    for (const role of ['api', 'worker']) {
      const service = compose.services[role];
      expect(service?.environment?.ROLES).toBe(role);
      expect(service?.deploy?.replicas).toBe(2);
      expect(service?.environment?.DATABASE_MIGRATE).toBe('false');
      expect(service?.depends_on?.migrate?.condition).toBe('service_completed_successfully');
    }
    const script = compose.services.migrate?.command?.[1] ?? '';
    expect(existsSync(join(ROOT, script.replace(/^dist\//, '').replace(/\.js$/, '.ts')))).toBe(true);
  });

  it('sets only settings that exist, and keeps no secret in it', () => {
    for (const [name, { environment = {} }] of own) {
      expect({ name, unknown: Object.keys(environment).filter((setting) => !names.has(setting)) }).toEqual({
        name,
        unknown: [],
      });
      for (const [setting, value] of Object.entries(environment)) {
        if (secrets.has(setting)) expect(`${setting}=${value}`).toMatch(/\$\{[A-Z_]+:\?/);
      }
    }
  });

  it('gives Herald what production asks for', () => {
    for (const [name, { environment = {} }] of own) {
      const env = Object.fromEntries(
        Object.entries(environment).map(([setting, value]) => [setting, filledIn(setting, value)]),
      );
      const required = name === 'migrate' ? (['DATABASE_URL'] as const) : undefined;
      const config = loadConfig({ env, persistSecrets: false, required });
      expect({ name, production: config.process.production, host: config.process.host }).toEqual({
        name,
        production: true,
        host: '0.0.0.0',
      });
      if (name === 'migrate') continue;
      // What is asked for its health, and by Prometheus and Caddy.
      expect(dockerfile).toContain(`EXPOSE ${config.process.port}`);
      expect(readProjectFile('deploy/Caddyfile')).toContain(`herald-api-1:${config.process.port} `);
      expect(readProjectFile('deploy/prometheus/prometheus.yml')).toContain(`port: ${config.process.port}`);
    }
  });

  it('keeps inside what is not for callers, and bounds how long they may take', () => {
    const caddyfile = readProjectFile('deploy/Caddyfile');
    // As Compose names the containers of the service api.
    const [, upstreams = ''] = /^\t\tto (.+)$/m.exec(caddyfile) ?? [];
    expect(upstreams.split(' ')).toEqual([1, 2, 3, 4].map((number) => `${compose.name}-api-${number}:3000`));
    expect(caddyfile).toMatch(/@inside path \/metrics\* \/health\/ready\*\n\s*respond @inside 404\n/);
    for (const timeout of ['read_header', 'read_body', 'write', 'idle']) {
      expect(caddyfile).toMatch(new RegExp(`timeouts \\{[^}]*\\b${timeout} \\d+[sm]\\b`));
    }
  });

  it('starts everything again that ends, within limits, and without rights that it does not need', () => {
    for (const [name, service] of services) {
      const once = name === 'migrate';
      expect({ name, restart: service.restart }).toEqual({ name, restart: once ? 'no' : 'unless-stopped' });
      if (!once)
        expect({ name, ...service.deploy?.resources?.limits }).toMatchObject({
          cpus: expect.any(String),
          memory: expect.any(String),
        });
    }
    for (const [, service] of own) expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
    expect(
      services.filter(([, { ports }]) => ports !== undefined && !ports.every(local)).map(([name]) => name),
    ).toEqual(['proxy']);
  });

  it('gives each container its own secrets and no other', () => {
    const given = services.map(([name, { environment, env_file = [], secrets: files = [] }]) => {
      expect(env_file.map(({ path }) => path)).not.toContain('.env');
      const asked = [...JSON.stringify(environment ?? {}).matchAll(/\$\{([A-Z_]+):?(.)/g)];
      const variables = asked.filter(([, variable]) => /PASSWORD|SECRET|TOKEN|KEYS/.test(variable ?? ''));
      // Each is refused where it is missing or empty.
      expect(variables.filter(([, , rule]) => rule !== '?')).toEqual([]);
      return [name, [...new Set([...variables.map(([, variable]) => variable ?? ''), ...files])].sort()] as const;
    });
    const process = ['DATABASE_PASSWORD', 'ENCRYPTION_KEYS', 'METRICS_TOKEN', 'REDIS_PASSWORD'];
    expect(Object.fromEntries(given)).toEqual({
      migrate: ['DATABASE_PASSWORD'],
      api: [...process, 'WHATSAPP_APP_SECRET', 'WHATSAPP_VERIFY_TOKEN'],
      worker: process,
      postgres: ['DATABASE_PASSWORD', 'POSTGRES_PASSWORD'],
      pgbouncer: ['DATABASE_PASSWORD'],
      redis: ['REDIS_PASSWORD'],
      proxy: [],
      prometheus: ['metrics_token'],
      alertmanager: [],
      grafana: ['GRAFANA_PASSWORD'],
    });
  });

  it('lets each container reach only what it works with', () => {
    const { networks } = compose;
    expect(Object.keys(networks).filter((name) => networks[name]?.internal !== true)).toEqual([
      'edge',
      'dashboards',
      'out',
    ]);
    const members = (network: string) =>
      services.filter(([, each]) => each.networks?.includes(network)).map(([name]) => name);
    expect(Object.fromEntries(Object.keys(networks).map((name) => [name, members(name)]))).toEqual({
      edge: ['api', 'proxy', 'prometheus'],
      data: ['migrate', 'api', 'worker', 'postgres', 'pgbouncer', 'redis'],
      metrics: ['api', 'worker', 'prometheus'],
      dashboards: ['prometheus', 'alertmanager', 'grafana'],
      out: ['api', 'worker'],
    });
    expect(services.filter(([, each]) => each.networks === undefined)).toEqual([]);
  });

  it('makes a role that owns its database and may do nothing else; that suffices to migrate', async () => {
    expect(compose.services.postgres?.environment).not.toHaveProperty('POSTGRES_USER');
    const name = `herald_role_${randomBytes(6).toString('hex')}`;
    const script = readProjectFile('deploy/postgres/herald.sh').split(/^.*<<'SQL'\n|^SQL\n/m)[1] ?? '';
    const statements = script
      .replace(/^\\getenv password DATABASE_PASSWORD\n/, '')
      .replace(":'password'", `'${name}'`)
      .replaceAll(/\bherald\b/g, name)
      .split(';\n')
      .filter(Boolean);
    const admin = new pg.Client({ connectionString: process.env.TEST_DATABASE_URL });
    await admin.connect();
    try {
      for (const statement of statements) await admin.query(statement);
      const { rows } = await admin.query(
        `select rolconfig as limits, rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls as strong,
           has_database_privilege('public', $1, 'connect') as open from pg_roles where rolname = $1`,
        [name],
      );
      const limits = ['statement_timeout=10s', 'idle_in_transaction_session_timeout=30s', 'jit=off'];
      expect(rows).toEqual([{ strong: false, open: false, limits }]);
      const url = Object.assign(new URL(process.env.TEST_DATABASE_URL ?? ''), { username: name, password: name });
      url.pathname = `/${name}`;
      expect(await migrate(url.toString())).not.toEqual([]);
    } finally {
      await admin.query(`drop database if exists ${name} with (force)`);
      await admin.query(`drop role if exists ${name}`);
      await admin.end();
    }
  });

  it('asks for nothing that deploy/env.example does not name', () => {
    const asked = new Set([...readProjectFile('compose.yaml').matchAll(/\$\{([A-Z_]+):\?/g)].map((match) => match[1]));
    const offered = new Set(
      [...readProjectFile('deploy/env.example').matchAll(/^([A-Z_]+)=/gm)].map((match) => match[1]),
    );
    expect([...asked].filter((name) => !offered.has(name))).toEqual([]);
    expect([...offered].filter((name) => !names.has(name ?? '') && !NOT_OURS.has(name ?? ''))).toEqual([]);
  });
});

describe('the image', () => {
  it('runs as an ordinary user, asks for its own health, and copies in no secret', () => {
    expect(dockerfile).toMatch(/^USER node$/m);
    const path = /127\.0\.0\.1:\$\{process\.env\.PORT\}(\/[a-z/]+)/.exec(dockerfile)?.[1] ?? '';
    expect(path).toBe('/health/live');
    expect(readProjectFile('src/infrastructure/operations/health.controller.ts')).toContain(`@Get('live')`);
    const copied = [...dockerfile.matchAll(/^COPY (?:--from=\w+ )?(.+) \S+$/gm)].flatMap(
      (match) => match[1]?.split(' ') ?? [],
    );
    const ignore = readProjectFile('.dockerignore').split('\n');
    expect(ignore[0]).toBe('*');
    for (const path of copied.filter((each) => !each.startsWith('/'))) {
      const top = path.split('/')[0] ?? '';
      expect({ path, let: ignore.some((line) => line.startsWith(`!${top}`)) }).toEqual({ path, let: true });
    }
    expect(ignore.filter((line) => /^!.*(env|data|secret|test|bench)/i.test(line))).toEqual([]);
    for (const name of secrets) expect(dockerfile).not.toContain(`${name}=`);
  });
});

describe('documents for operators', () => {
  const documents = ['README.md', ...filesUnder('docs', (path) => /^docs\/[a-z-]+\.md$/.test(path))];

  it.each(documents)('%s names only settings that exist', (document) => {
    const text = readProjectFile(document);
    const named = [...text.matchAll(/(?<![\w/.$])`?([A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+)=(?!\$\()/g)].map(
      (match) => match[1] ?? '',
    );
    const unknown = named.filter(
      (name) => !names.has(name) && !NOT_OURS.has(name) && !/^(TEST|LONG|BENCH|NO|FORCE)_/.test(name),
    );
    expect(unknown).toEqual([]);
  });

  it('has a runbook for every alert, which names it', () => {
    const sections = readProjectFile('docs/operations.md')
      .split(/^#{2,4} /m)
      .map((section) => [slugOf(section.split('\n')[0] ?? ''), section] as const);
    const runbooks = new Map(sections);
    const { groups } = parseYaml(readProjectFile('deploy/prometheus/herald.rules.yml')) as {
      groups: { rules: { alert: string; annotations: { runbook: string } }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(10);
    const isNamed = ({ alert, annotations }: (typeof rules)[number]): boolean =>
      runbooks.get(annotations.runbook)?.includes(`\`${alert}\``) === true;
    expect(rules.filter((rule) => !isNamed(rule)).map(({ alert }) => alert)).toEqual([]);
  });
});

/** As compose fills in, with values of the right shape. */
function filledIn(setting: string, value: string): string {
  if (setting === 'ENCRYPTION_KEYS') return `1:${randomBytes(32).toString('base64')}`;
  if (setting === 'PUBLIC_URL') return 'https://herald.example.com';
  const random = randomBytes(24).toString('hex');
  return value.replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1').replace(/\$\{[A-Z_]+:\?[^}]*\}/g, random);
}

function local(port: string): boolean {
  return port.startsWith('127.0.0.1:');
}
