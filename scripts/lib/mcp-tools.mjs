// The tools of agents (src/modules/mcp/mcp-tools.json), made from the API description.

const LEFT_OUT = new Set(['example', 'examples', 'title', 'default']);

/** @returns the file's text: the tools of `table`, in its order. */
export function renderMcpTools(description, table) {
  const operations = Object.entries(description.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
  );
  const tools = table.map(({ name, operation: id, kind }) => {
    const operation = operations.find(({ operationId }) => operationId === id);
    if (operation === undefined) throw new Error(`mcp: the API description has no operation ${id}`);
    return toolOf(name, kind, operation, description);
  });
  return `${JSON.stringify(tools, null, 2)}\n`;
}

function toolOf(name, kind, { path, method, summary, description, parameters, ...operation }, api) {
  const known = parameters.map((parameter) => resolved(parameter, api)).filter((each) => each.in !== 'header');
  const properties = Object.fromEntries(
    known.map(({ name: parameter, schema, description: text }) => [
      parameter,
      { ...plain(schema, api), description: oneLine(text) },
    ]),
  );
  const confirmed =
    kind === 'campaign' ? { confirm: { const: true, description: 'The person whom you work for agreed to it.' } } : {};
  return {
    name,
    kind,
    title: summary,
    description: oneLine(description.replace(/Needs a key with the scope [^\n]*$/, '')),
    method: method.toUpperCase(),
    path: path.replace(/^\/api\/v1/, ''),
    scope: operation['x-required-scope'] ?? null,
    query: known.filter((each) => each.in === 'query').map((each) => each.name),
    inputSchema: {
      type: 'object',
      properties: { ...properties, ...confirmed },
      required: [...known.filter(({ required }) => required).map((each) => each.name), ...Object.keys(confirmed)],
      additionalProperties: false,
    },
  };
}

const oneLine = (text) => (text ?? '').replaceAll(/\s+/g, ' ').trim();

function resolved(node, api) {
  const name = node.$ref?.split('/').at(-1);
  return name === undefined ? node : (api.components.schemas[name] ?? api.components.parameters[name]);
}

/** The schema without references and what a caller does not need. */
function plain(node, api) {
  if (Array.isArray(node)) return node.map((item) => plain(item, api));
  if (typeof node !== 'object' || node === null) return node;
  const kept = Object.entries(resolved(node, api)).filter(([key]) => !LEFT_OUT.has(key) && !key.startsWith('x-'));
  return Object.fromEntries(kept.map(([key, value]) => [key, plain(value, api)]));
}
