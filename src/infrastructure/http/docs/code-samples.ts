import type { OpenAPIObject } from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID, EXAMPLE_IDEMPOTENCY_KEY } from '../../../common/example-ids.js';
import { OPERATOR_SECURITY_SCHEME, OTP_SECURITY_SCHEME } from '../api-description.js';
import { operationsOf, type Operation } from '../openapi-operations.js';

const UPLOAD = 'multipart/form-data';

/**
 * The client's method of an operation, where its name differs: `messages_send` is `messages.send`. A test compiles all
 * samples, so it finds missing entries.
 */
const CLIENT_METHODS: Readonly<Record<string, string>> = {
  media_delete: 'media.remove',
  keys_get: 'key.get',
  webhook_put: 'webhook.set',
  replays_start: 'webhook.replayMany',
  replays_get: 'webhook.replayState',
};

/** Client calls whose arguments differ from those of the request. `id` is the id in the path. */
const CLIENT_CALLS: Readonly<Record<string, (id: string) => readonly string[]>> = {
  media_upload: () => [
    "const file = new Blob([await readFile('menu.pdf')]);",
    "const answer = await herald.media.upload({ connectionId, file, filename: 'menu.pdf' });",
  ],
  messages_read: (id) => [`const answer = await herald.messages.markRead(${literal(id)}, { typing: true });`],
  messages_retry: (id) => [`const answer = await herald.messages.retry(${literal(id)});`],
};

/** The environment variable that holds the key in samples, by security scheme. */
const KEY_VARIABLES: Readonly<Record<string, string>> = {
  [OTP_SECURITY_SCHEME]: 'HERALD_OTP_KEY',
  [OPERATOR_SECURITY_SCHEME]: 'HERALD_OPERATOR_KEY',
};

/** Lists that the client pages by a cursor other than the time of an item. */
const ITERATED: ReadonlySet<string> = new Set(['events_list', 'eventsAdmin_list']);

/** The client of an API, as samples use it. */
export interface SampleClient {
  make: 'createHeraldClient' | 'createHeraldAdmin';
  variable: string;
  /** The client's option for the key. */
  option: string;
}

/**
 * Adds `x-codeSamples`, which Redoc, Scalar and others read, to every operation. Each sample is generated from the
 * operation's description, so a new operation has samples too.
 */
export function addCodeSamples(document: OpenAPIObject, publicUrl: string, client: SampleClient): void {
  for (const { method, path, operation } of operationsOf(document)) {
    const call = callOf(operation, method, path, publicUrl);
    operation['x-codeSamples'] = [
      { lang: 'Shell', label: 'curl', source: curlOf(call) },
      { lang: 'TypeScript', label: 'TypeScript', source: typescriptOf(call, publicUrl, client) },
      { lang: 'Python', label: 'Python', source: pythonOf(call) },
    ];
  }
}

type Call = ReturnType<typeof callOf>;

/** The request with the examples' values, which the samples in all three languages share. */
function callOf(operation: Operation, method: string, path: string, publicUrl: string) {
  const { parameters = [], requestBody, security = [], responses } = operation;
  const named = (place: string, all: boolean): [string, string][] =>
    parameters
      .filter((parameter) => parameter.in === place && (all || parameter.required === true))
      .map((parameter) => [parameter.name, exampleOf(parameter) ?? parameter.name]);
  // In the order of the path, which is the order of the client's arguments.
  const pathParameters = named('path', true).sort(([a], [b]) => path.indexOf(`{${a}}`) - path.indexOf(`{${b}}`));
  const query = Object.fromEntries(named('query', false));
  const filled = pathParameters.reduce(
    (text, [name, value]) => text.replace(`{${name}}`, encodeURIComponent(value)),
    path,
  );
  const search = new URLSearchParams(query).toString();
  const json = requestBody?.content?.['application/json'];
  const [first] = Object.values(json?.examples ?? {});
  return {
    id: operation.operationId,
    method,
    url: `${publicUrl}${filled}${search === '' ? '' : `?${search}`}`,
    pathValues: pathParameters.map(([, value]) => value),
    query,
    needsKey: parameters.some(({ name }) => name === 'Idempotency-Key'),
    body: first === undefined ? json?.example : first.value,
    isUpload: requestBody?.content?.[UPLOAD] !== undefined,
    keyVariable: KEY_VARIABLES[Object.keys(security[0] ?? {})[0] ?? ''] ?? 'HERALD_API_KEY',
    hasNoAnswer: '204' in responses,
    turnsPages: parameters.some(({ name }) => name === 'before_id') || ITERATED.has(operation.operationId),
  };
}

/** The example value in a parameter's description; null where there is none. */
export function exampleOf({ example, schema }: NonNullable<Operation['parameters']>[number]): string | null {
  const value = example ?? schema?.example ?? schema?.examples?.[0];
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/** The key is a literal, because no command that makes UUIDs exists on every machine. */
const KEY_COMMENT = '# Another UUID for each request, the same for a repeat.';

function curlOf({ method, url, keyVariable, needsKey, body, isUpload }: Call): string {
  const comment = needsKey ? `${KEY_COMMENT}\n` : '';
  const lines = [`${comment}curl -sS${method === 'GET' ? '' : ` -X ${method}`} '${url}'`];
  lines.push(`  -H "Authorization: Bearer $${keyVariable}"`);
  if (needsKey) lines.push(`  -H 'Idempotency-Key: ${EXAMPLE_IDEMPOTENCY_KEY}'`);
  if (isUpload) lines.push(`  -F connection_id=${EXAMPLE_CONNECTION_ID}`, '  -F file=@menu.pdf');
  if (body === undefined) return lines.join(' \\\n');
  lines.push(`  -H 'Content-Type: application/json'`, `  --data-binary @- <<'JSON'`);
  return `${lines.join(' \\\n')}\n${JSON.stringify(body, null, 2)}\nJSON`;
}

function typescriptOf(call: Call, publicUrl: string, client: SampleClient): string {
  const { id, keyVariable, turnsPages, hasNoAnswer, isUpload } = call;
  const method = CLIENT_METHODS[id] ?? id.replace(/(Admin)?_/, '.');
  const custom = CLIENT_CALLS[id];
  const { variable } = client;
  const make = `const ${variable} = ${client.make}({ baseUrl: ${literal(publicUrl)}, ${client.option}: process.env.${keyVariable}! });`;
  let lines: string[];
  if (custom !== undefined) lines = [...custom(call.pathValues[0] ?? ''), 'console.log(answer);'];
  else if (turnsPages) {
    const args = call.pathValues.map(literal).join(', ');
    lines = [`for await (const one of ${variable}.${method}(${args})) console.log(one);`];
  } else {
    const args = [...call.pathValues.map(literal), ...bodyArguments(call)];
    const invoked = `await ${variable}.${method}(${args.join(', ')});`;
    lines = hasNoAnswer ? [invoked] : [`const answer = ${invoked}`, 'console.log(answer);'];
  }
  const imports = [`import { ${client.make} } from '@herald/client';`];
  if (isUpload) imports.unshift("import { readFile } from 'node:fs/promises';");
  const given = isUpload ? [`const connectionId = ${literal(EXAMPLE_CONNECTION_ID)};`] : [];
  return [...imports, '', make, ...given, ...lines].join('\n');
}

function bodyArguments({ body, query, needsKey }: Call): string[] {
  const args = body === undefined ? [] : [literal(body)];
  if (Object.keys(query).length > 0) args.push(literal(query));
  // The client makes a key by default; the caller's own key survives a crash of the caller.
  if (needsKey) args.push('{ idempotencyKey: crypto.randomUUID() }');
  return args;
}

function pythonOf(call: Call): string {
  const { method, url, keyVariable, needsKey, body, isUpload, hasNoAnswer } = call;
  const imports = [...(hasNoAnswer ? [] : ['json']), 'os', 'urllib.request', ...(needsKey || isUpload ? ['uuid'] : [])];
  if (body !== undefined && hasNoAnswer) imports.unshift('json');
  const headers = [
    `        "Authorization": "Bearer " + os.environ["${keyVariable}"],`,
    ...(needsKey ? ['        "Idempotency-Key": str(uuid.uuid4()),'] : []),
    ...(body === undefined ? [] : ['        "Content-Type": "application/json",']),
    ...(isUpload ? ['        "Content-Type": "multipart/form-data; boundary=" + boundary,'] : []),
  ];
  const data = body === undefined ? (isUpload ? ['    data=data,'] : []) : ['    data=json.dumps(body).encode(),'];
  return [
    `import ${imports.join(', ')}`,
    '',
    ...(body === undefined ? [] : [`body = ${written(body, PYTHON)}`]),
    ...(isUpload ? pythonForm() : []),
    'request = urllib.request.Request(',
    `    "${url}",`,
    `    method="${method}",`,
    ...data,
    '    headers={',
    ...headers,
    '    },',
    ')',
    'with urllib.request.urlopen(request, timeout=15) as response:',
    `    print(${hasNoAnswer ? 'response.status' : 'json.load(response)'})`,
  ].join('\n');
}

function pythonForm(): string[] {
  return [
    'boundary = uuid.uuid4().hex',
    'with open("menu.pdf", "rb") as file:',
    '    data = b"".join([',
    '        f"--{boundary}\\r\\n".encode(),',
    `        b'Content-Disposition: form-data; name="connection_id"\\r\\n\\r\\n',`,
    `        b"${EXAMPLE_CONNECTION_ID}\\r\\n",`,
    '        f"--{boundary}\\r\\n".encode(),',
    `        b'Content-Disposition: form-data; name="file"; filename="menu.pdf"\\r\\n\\r\\n',`,
    '        file.read(),',
    '        f"\\r\\n--{boundary}--\\r\\n".encode(),',
    '    ])',
  ];
}

const NARROW = 72;

/** A value in a syntax common to TypeScript and Python, except for the words in `names`; long lines are broken. */
function written(value: unknown, names: Names, depth = 0): string {
  if (value === null) return names.none;
  if (typeof value === 'boolean') return value ? names.yes : names.no;
  if (typeof value === 'string') return names.text(value);
  if (typeof value !== 'object') return JSON.stringify(value);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : [names.open, names.close];
  const parts = Array.isArray(value)
    ? value.map((item) => written(item, names, depth + 1))
    : Object.entries(value).map(([key, item]) => `${names.key(key)}: ${written(item, names, depth + 1)}`);
  const line = parts.length === 0 ? open.trim() + close.trim() : `${open}${parts.join(', ')}${close}`;
  if (line.length <= NARROW - 2 * depth && !line.includes('\n')) return line;
  const indent = names.indent.repeat(depth + 1);
  const inner = parts.map((part) => `${indent}${part},\n`).join('');
  return `${open.trim()}\n${inner}${names.indent.repeat(depth)}${close.trim()}`;
}

const PYTHON = {
  none: 'None',
  yes: 'True',
  no: 'False',
  indent: '    ',
  open: '{',
  close: '}',
  key: (key: string): string => JSON.stringify(key),
  // Python understands JSON's escapes.
  text: (text: string): string => JSON.stringify(text),
};

type Names = typeof PYTHON;

const TYPESCRIPT: Names = {
  none: 'null',
  yes: 'true',
  no: 'false',
  indent: '  ',
  open: '{ ',
  close: ' }',
  key: (key) => (/^[A-Za-z_$][\w$]*$/.test(key) ? key : TYPESCRIPT.text(key)),
  text: (text) =>
    text.includes("'") ? JSON.stringify(text) : `'${JSON.stringify(text).slice(1, -1).replaceAll('\\"', '"')}'`,
};

const literal = (value: unknown): string => written(value, TYPESCRIPT);
