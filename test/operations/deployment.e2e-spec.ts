import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { loadConfig } from '../../src/platform/config/load-config.js';
import { SETTINGS } from '../../src/platform/config/settings.js';
import { filesUnder, readProjectFile, ROOT } from '../support/project-files.js';

interface Service {
  image?: string;
  build?: string;
  command?: string[];
  environment?: Record<string, string>;
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
  services: Record<string, Service>;
  volumes: Record<string, unknown>;
};
const dockerfile = readProjectFile('Dockerfile');
const names = new Set(SETTINGS.map(({ name }) => name));
const secrets = new Set(SETTINGS.filter(({ secret }) => secret === true).map(({ name }) => name));
const services = Object.entries(compose.services);
const own = services.filter(([, { image }]) => image === 'herald:latest');

/** Words in capitals that are others' settings, or no settings. */
const NOT_OURS = new Set([
  'POSTGRES_PASSWORD',
  'REDIS_PASSWORD',
  'GRAFANA_PASSWORD',
  'HERALD_SITE',
  'HTTP_PORT',
  'HTTPS_PORT',
  'NODE_OPTIONS',
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
      const config = loadConfig({ env, persistSecrets: false });
      expect({ name, production: config.process.production, host: config.process.host }).toEqual({
        name,
        production: true,
        host: '0.0.0.0',
      });
      // What is asked for its health, and by Prometheus and Caddy.
      expect(dockerfile).toContain(`EXPOSE ${config.process.port}`);
      expect(readProjectFile('deploy/Caddyfile')).toContain(`dynamic a api ${config.process.port}`);
      expect(readProjectFile('deploy/prometheus/prometheus.yml')).toContain(`port: ${config.process.port}`);
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
    expect(readProjectFile('src/platform/operations/health.controller.ts')).toContain(`@Get('live')`);
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

describe('documents for those who run Herald', () => {
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

  it('has a runbook for every alert', () => {
    const headings = [...readProjectFile('docs/operations.md').matchAll(/^#{2,4} (.+)$/gm)].map((match) =>
      (match[1] ?? '')
        .toLowerCase()
        .replace(/[^a-z0-9 -]/g, '')
        .replaceAll(' ', '-'),
    );
    const { groups } = parseYaml(readProjectFile('deploy/prometheus/herald.rules.yml')) as {
      groups: { rules: { alert: string; annotations: { runbook: string } }[] }[];
    };
    const rules = groups.flatMap((group) => group.rules);
    expect(rules.length).toBeGreaterThan(10);
    expect(
      rules.filter(({ annotations }) => !headings.includes(annotations.runbook)).map(({ alert }) => alert),
    ).toEqual([]);
  });
});

/** As compose fills in, with values of the right shape. */
function filledIn(setting: string, value: string): string {
  if (setting === 'ENCRYPTION_KEYS') return `1:${Buffer.alloc(32, 7).toString('base64')}`;
  if (setting === 'PUBLIC_URL') return 'https://herald.example.com';
  return value.replace(/\$\{[A-Z_]+:-([^}]*)\}/g, '$1').replace(/\$\{[A-Z_]+:\?[^}]*\}/g, 'filled');
}

function local(port: string): boolean {
  return port.startsWith('127.0.0.1:');
}
