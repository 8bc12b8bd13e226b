// Builds and lints the n8n node, and runs each of its actions and its trigger against a running demo: `npm run test:n8n [-- --keep]`.
// It takes n8n's tools from the npm registry (some 580 MB in a temporary folder), so it is not part of `npm test`.
import assert from 'node:assert/strict';
import { cpSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { buildIfStale } from './build-if-stale.mjs';
import { startDemoHerald } from './lib/demo-herald.mjs';
import { ROOT } from './lib/root.mjs';
import { run } from './lib/run.mjs';
import { hasFailed, runSteps, scratchFolder, step } from './lib/steps.mjs';
import { ran } from './ran.mjs';

const WITHIN_MS = 30_000;
const CUSTOMER = '15550001234';
const scratch = scratchFolder('n8n');
const folder = join(scratch, 'package');

function install() {
  const skip = /(^|\/)(node_modules|dist)(\/|$)/;
  cpSync(join(ROOT, 'integrations/n8n'), folder, {
    recursive: true,
    filter: (path) => !skip.test(path.slice(join(ROOT, 'integrations/n8n').length)),
  });
  // Scripts of its packages compile what only n8n itself needs.
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error'];
  run('npm', ['install', '--ignore-scripts', '--legacy-peer-deps', ...quiet], { cwd: folder });
}

async function waitFor(what, look) {
  const deadline = Date.now() + WITHIN_MS;
  for (;;) {
    const found = await look();
    if (found) return found;
    if (Date.now() > deadline) throw new Error(`${what} did not come within ${WITHIN_MS / 1_000} s`);
    await sleep(100);
  }
}

/** What n8n gives a node while it runs: the parameters of its form with their defaults, and requests with its credential. */
function contextOf(node, demo, { Credential }, given, more = {}) {
  const { description } = node;
  const values = { ...given };
  const isShown = ({ displayOptions }) =>
    Object.entries(displayOptions?.show ?? {}).every(([name, allowed]) => allowed.includes(values[name]));
  // Twice: what shows a field may have a default itself.
  for (let pass = 0; pass < 2; pass++)
    for (const property of description.properties)
      if (!(property.name in values) && isShown(property)) values[property.name] = property.default;
  for (const name of Object.keys(given))
    assert(
      description.properties.some((property) => property.name === name && isShown(property)),
      `no field ${name} is shown`,
    );
  const credential = new Credential();
  return {
    getInputData: () => [{ json: {} }],
    getNode: () => ({ id: 'node-1', name: description.displayName, type: description.name, typeVersion: 1 }),
    getInstanceId: () => 'instance-1',
    getWorkflow: () => ({ id: 'workflow-1' }),
    getExecutionId: () => more.execution ?? 'execution-1',
    evaluateExpression: () => more.run ?? 0,
    continueOnFail: () => more.continueOnFail === true,
    getMode: () => more.mode ?? 'trigger',
    getWorkflowStaticData: () => more.state,
    getCredentials: async () => ({ baseUrl: `${demo.base_url}/`, apiKey: more.key ?? demo.api_key }),
    getNodeParameter(name, item, fallback) {
      if (name in values) return values[name];
      assert(fallback !== undefined, `the node asks for ${name}, which its form does not have`);
      return fallback;
    },
    helpers: {
      returnJsonArray: (list) => list.map((json) => ({ json })),
      async httpRequestWithAuthentication(type, { method, baseURL, url, qs = {}, body, headers = {} }) {
        assert.equal(type, credential.name);
        if (more.fail?.length > 0) throw Object.assign(new Error('gone'), { httpCode: String(more.fail.shift()) });
        const { apiKey } = await this.getCredentials(type);
        const authorization = credential.authenticate.properties.headers.Authorization.replace(/^=/, '').replace(
          '{{$credentials.apiKey}}',
          apiKey,
        );
        const target = new URL(baseURL + url);
        for (const [name, value] of Object.entries(qs))
          if (value !== undefined) target.searchParams.set(name, String(value));
        const answer = await fetch(target, {
          method,
          headers: { authorization, 'content-type': 'application/json', ...headers },
          ...(body !== undefined && { body: JSON.stringify(body) }),
          signal: AbortSignal.timeout(WITHIN_MS),
        });
        const text = await answer.text();
        const data = text === '' ? undefined : JSON.parse(text);
        if (answer.ok) return data;
        const message = `${data?.error?.code}: ${data?.error?.message}`;
        throw Object.assign(new Error(message), {
          httpCode: String(answer.status),
          response: { status: answer.status, data },
        });
      },
    },
  };
}

async function checkActions(demo, parts) {
  const { Herald, ACTIONS } = parts;
  const node = new Herald();
  const done = new Set();
  const perform = async (resource, operation, given = {}, more = {}) => {
    const context = contextOf(node, demo, parts, { resource, operation, ...given }, more);
    const [items] = await node.execute.call(context);
    for (const { pairedItem } of items) assert.deepEqual(pairedItem, { item: 0 });
    done.add(`${resource}:${operation}`);
    return items.map(({ json }) => json);
  };
  const numbers = await node.methods.loadOptions.getConnections.call(contextOf(node, demo, parts, {}));
  assert(numbers.some(({ value }) => value === demo.connection_id));
  const text = (words) => ({ kind: 'text', connectionId: demo.connection_id, to: `+${CUSTOMER}`, text: words });

  const [sent] = await perform('message', 'send', text('Hello from n8n'));
  const [again] = await perform('message', 'send', text('Hello from n8n'));
  assert.equal(again.id, sent.id, 'a repeat of the same execution made another message');
  const [other] = await perform('message', 'send', text('Hello from n8n'), { run: 1 });
  assert.notEqual(other.id, sent.id, 'another run made no message of its own');
  await waitFor(
    'the message',
    async () => (await perform('message', 'get', { path_id: sent.id }))[0].status === 'read',
  );
  const template = {
    kind: 'template',
    connectionId: demo.connection_id,
    to: `+${CUSTOMER}`,
    templateName: 'order_update',
    values: ['Ana', '4711'],
  };
  assert.equal((await perform('message', 'send', template))[0].status, 'queued');
  const file = {
    kind: 'file',
    connectionId: demo.connection_id,
    to: `+${CUSTOMER}`,
    link: 'https://example.com/menu.jpg',
    caption: 'Menu',
  };
  assert.equal((await perform('message', 'send', file))[0].status, 'queued');
  const json = JSON.stringify({
    connection_id: demo.connection_id,
    to: CUSTOMER,
    type: 'text',
    text: { body: 'JSON' },
  });
  assert.equal((await perform('message', 'send', { kind: 'json', json }))[0].status, 'queued');
  assert.equal((await perform('message', 'check', text('Checked')))[0].sendable, true);
  assert((await perform('message', 'timeline', { path_id: sent.id }))[0].data.length > 0);

  const hidden = { ...text('Checked'), to: 'DE.17952480013491208655' };
  assert.equal((await perform('message', 'check', hidden))[0].sendable, false);
  await assert.rejects(perform('message', 'send', { kind: 'json', json: '{"text": "a "quote"}' }), {
    name: 'NodeOperationError',
  });

  const later = { ...text('Later'), more: { send_at: new Date(Date.now() + 3_600_000).toISOString(), tag: 'n8n' } };
  const [scheduled] = await perform('message', 'send', later);
  await perform('message', 'cancel', { path_id: scheduled.id });
  await perform('message', 'retry', { path_id: scheduled.id });
  assert.equal((await perform('message', 'getAll', { limit: 3 })).length, 3);
  const all = await perform('message', 'getAll', { returnAll: true, filters: { tag: 'n8n' } });
  assert.deepEqual(
    all.map(({ id }) => id),
    [scheduled.id],
  );
  const paged = await perform('message', 'getAll', { limit: 120 });
  assert.equal(new Set(paged.map(({ id }) => id)).size, paged.length);

  const inbound = await fetch(`${demo.simulator_url}/_simulator/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number_id: demo.phone_number_id, from: CUSTOMER, message: 'Is it ready?' }),
  });
  assert.equal(inbound.status, 200);
  const [received] = await waitFor('the message of the customer', async () => {
    const found = await perform('message', 'getAll', { limit: 1, filters: { direction: 'inbound', from: CUSTOMER } });
    return found.length > 0 && found;
  });
  assert(
    (await perform('message', 'markRead', { path_id: received.id, fields: { typing_indicator: true } }))[0].read_at,
  );

  const [conversation] = await perform('conversation', 'getAll', { filters: { to: CUSTOMER } });
  assert.equal((await perform('conversation', 'get', { path_id: conversation.id }))[0].contact.phone, CUSTOMER);
  const closed = await perform('conversation', 'update', { path_id: conversation.id, fields: { closed: true } });
  assert.equal(closed[0].closed, true);
  assert((await perform('template', 'getAll', { path_id: demo.connection_id, returnAll: true })).length > 1);
  assert.equal(
    (await perform('template', 'get', { path_id: demo.connection_id, path_name: 'order_update' }))[0].name,
    'order_update',
  );
  const preview = {
    path_id: demo.connection_id,
    body_template_name: 'order_update',
    fields: { parameters: '{"body":["Ana","4711"]}' },
  };
  assert.deepEqual((await perform('template', 'preview', preview))[0].missing, []);
  await perform('tag', 'put', { path_tag: 'n8n-2', fields: { paused: true } });
  for (const operation of ['get', 'pause', 'resume', 'cancel', 'retry'])
    await perform('tag', operation, { path_tag: 'n8n-2' });
  assert((await perform('tag', 'getAll')).some(({ tag }) => tag === 'n8n-2'));
  const [optOut] = await perform('optOut', 'put', { body_category: 'marketing', fields: { to: '15550100001' } });
  assert((await perform('optOut', 'getAll')).some(({ id }) => id === optOut.id));
  assert.deepEqual(await perform('optOut', 'delete', { path_id: optOut.id }), [{ success: true }]);
  assert((await perform('connection', 'getAll')).some(({ id }) => id === demo.connection_id));

  const form = new FormData();
  form.set('connection_id', demo.connection_id);
  form.set('file', new Blob(['Soup\n']), 'menu.txt');
  const upload = await fetch(`${demo.base_url}/api/v1/media`, {
    method: 'POST',
    headers: { authorization: `Bearer ${demo.api_key}` },
    body: form,
  });
  const { data: media } = await upload.json();
  assert((await perform('file', 'getAll')).some(({ id }) => id === media.id));
  assert.equal((await perform('file', 'get', { path_id: media.id }))[0].filename, 'menu.txt');
  assert.match((await perform('file', 'link', { path_id: media.id }))[0].url, /^http/);

  assert.deepEqual(done, new Set(Object.keys(ACTIONS)), 'an action was not tried');

  const unknown = { path_id: '01936f70-4d2e-7b10-8f3a-6c7d8e9f0a1b' };
  await assert.rejects(perform('message', 'get', unknown), { name: 'NodeApiError', httpCode: '404' });
  const [kept] = await perform('message', 'get', unknown, { continueOnFail: true });
  assert.match(kept.error, /MESSAGE_NOT_FOUND/);
  await assert.rejects(perform('template', 'preview', { ...preview, fields: { parameters: '{' } }), {
    name: 'NodeOperationError',
  });
}

async function checkTrigger(demo, parts) {
  const node = new parts.HeraldTrigger();
  const state = {};
  const poll = (more = {}) =>
    node.poll.call(contextOf(node, demo, parts, { types: ['message.received'] }, { state, ...more }));
  assert.equal(await poll(), null);
  assert.equal(typeof state.cursor, 'string');
  const before = state.cursor;
  const from = '15550007777';
  const answer = await fetch(`${demo.simulator_url}/_simulator/inbound`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ phone_number_id: demo.phone_number_id, from, message: 'Hello n8n' }),
  });
  assert.equal(answer.status, 200);
  const [items] = await waitFor('the event', () => poll());
  assert.deepEqual(
    items.map(({ json }) => [json.type, json.data.contact.phone]),
    [['message.received', from]],
  );
  assert.equal(await poll(), null, 'an event came twice');
  // As after an execution whose static data was not saved: the same event, under the same id.
  const [repeated] = await poll({ state: { cursor: before } });
  assert.deepEqual(
    repeated.map(({ json }) => json.id),
    items.map(({ json }) => json.id),
  );
  const old = { cursor: 'kept no longer' };
  const [oldest] = await poll({ state: old, fail: [410] });
  assert(oldest.some(({ json }) => json.id === items[0].json.id));
  assert.notEqual(old.cursor, 'kept no longer');
  const [sample] = await poll({ mode: 'manual', state: {} });
  assert.equal(sample.length, 1);
  await assert.rejects(poll({ key: 'hrld_live_wrong' }), { name: 'NodeApiError', httpCode: '401' });
}

async function checkCredential(demo, { Credential }) {
  const { test } = new Credential();
  assert.match(test.request.baseURL, /\$credentials\.baseUrl/);
  const answer = await fetch(demo.base_url + test.request.url, {
    headers: { authorization: `Bearer ${demo.api_key}` },
  });
  assert.equal(answer.status, 200);
}

await runSteps(scratch, async () => {
  const ready = await step('install', async () => {
    await buildIfStale();
    install();
  });
  if (!ready) return;
  await step('n8n-node lint', () => run('npx', ['n8n-node', 'lint'], { cwd: folder }));
  if (!(await step('n8n-node build', () => run('npx', ['n8n-node', 'build'], { cwd: folder })))) return;
  const require = createRequire(join(folder, 'package.json'));
  const parts = {
    ...require('./dist/nodes/Herald/Herald.node.js'),
    ...require('./dist/nodes/Herald/actions.js'),
    ...require('./dist/nodes/HeraldTrigger/HeraldTrigger.node.js'),
    Credential: require('./dist/credentials/HeraldApi.credentials.js').HeraldApi,
  };
  const herald = await startDemoHerald(join(scratch, 'data'));
  try {
    await step('the credential', () => checkCredential(herald.demo, parts));
    await step('each action', () => checkActions(herald.demo, parts));
    await step('the trigger', () => checkTrigger(herald.demo, parts));
  } finally {
    await herald.stop();
  }
  const { version } = require('n8n-workflow/package.json');
  if (!hasFailed()) ran('n8n', `n8n-workflow ${version}`, 'lint, build, each action and the trigger of the node');
});
