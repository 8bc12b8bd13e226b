import {
  NodeApiError,
  NodeConnectionTypes,
  NodeOperationError,
  type IDataObject,
  type IExecuteFunctions,
  type ILoadOptionsFunctions,
  type INodeExecutionData,
  type INodePropertyOptions,
  type INodeType,
  type INodeTypeDescription,
  type JsonObject,
} from 'n8n-workflow';
import { ACTIONS, actionProperties, RESOURCES, type Action } from './actions';
import { messageOf, sendProperties } from './send';
import { keyOf } from './shared/key';
import { heraldRequest } from './shared/transport';

const PAGE = 100;

export class Herald implements INodeType {
  description: INodeTypeDescription = {
    displayName: 'Herald',
    name: 'herald',
    icon: { light: 'file:../../icons/herald.svg', dark: 'file:../../icons/herald.dark.svg' },
    group: ['output'],
    version: 1,
    subtitle: '={{$parameter["operation"] + ": " + $parameter["resource"]}}',
    description: 'Send and read WhatsApp messages with Herald',
    defaults: { name: 'Herald' },
    usableAsTool: true,
    inputs: [NodeConnectionTypes.Main],
    outputs: [NodeConnectionTypes.Main],
    credentials: [{ name: 'heraldApi', required: true }],
    properties: [
      {
        displayName: 'Resource',
        name: 'resource',
        type: 'options',
        noDataExpression: true,
        options: RESOURCES,
        default: 'message',
      },
      ...actionProperties,
      ...sendProperties,
    ],
  };

  methods = {
    loadOptions: {
      async getConnections(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
        const { data } = await heraldRequest(this, { method: 'GET', path: '/api/v1/connections' });
        return (data as IDataObject[]).map(({ id, display_phone_number: phone, verified_name: name }) => ({
          name: [name, phone].filter(Boolean).join(' ') || String(id),
          value: String(id),
        }));
      },
    },
  };

  async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
    const results: INodeExecutionData[] = [];
    for (let item = 0; item < this.getInputData().length; item++) {
      try {
        for (const json of await perform(this, item)) results.push({ json, pairedItem: { item } });
      } catch (error) {
        if (this.continueOnFail()) {
          results.push({ json: { error: (error as Error).message }, pairedItem: { item } });
          continue;
        }
        // What the form itself makes impossible has its words already.
        if (error instanceof NodeOperationError)
          throw new NodeOperationError(this.getNode(), error, { itemIndex: item });
        throw new NodeApiError(this.getNode(), error as JsonObject, { itemIndex: item });
      }
    }
    return [results];
  }
}

/** What one item asks for; a list gives many. */
async function perform(context: IExecuteFunctions, item: number): Promise<IDataObject[]> {
  const name = `${context.getNodeParameter('resource', item) as string}:${context.getNodeParameter('operation', item) as string}`;
  const action = ACTIONS[name];
  if (action === undefined)
    throw new NodeOperationError(context.getNode(), `There is no operation ${name}`, { itemIndex: item });
  const path = action.path.replace(/\{(\w+)\}/g, (_match, field: string) =>
    encodeURIComponent(String(context.getNodeParameter(`path_${field}`, item))),
  );
  if (action.list) return listOf(context, item, action, path);
  const body = bodyOf(context, item, action);
  const headers = action.keyed ? { 'Idempotency-Key': keyFor(context, item, [name, path, body ?? null]) } : undefined;
  const qs = action.query.length > 0 ? chosen(context, item, 'options') : undefined;
  const answer = await heraldRequest(context, { method: action.method, path, qs, body, headers });
  const data = answer.data;
  if (Array.isArray(data) && Object.keys(answer).length === 1) return data as IDataObject[];
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) return [data as IDataObject];
  return [Object.keys(answer).length === 0 ? { success: true } : answer];
}

function chosen(context: IExecuteFunctions, item: number, name: string): IDataObject {
  const values = context.getNodeParameter(name, item, {}) as IDataObject;
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== '' && value !== undefined));
}

function bodyOf(context: IExecuteFunctions, item: number, action: Action): IDataObject | undefined {
  if (action.message) return messageOf(context, item);
  if (action.body.length === 0) return undefined;
  const body: IDataObject = {};
  for (const { name, required } of action.body)
    if (required) body[name] = context.getNodeParameter(`body_${name}`, item) as IDataObject;
  Object.assign(body, chosen(context, item, 'fields'));
  for (const { name, type } of action.body) {
    const value = body[name];
    if (type !== 'json' || typeof value !== 'string') continue;
    try {
      body[name] = JSON.parse(value) as IDataObject;
    } catch {
      throw new NodeOperationError(context.getNode(), `${name} is no JSON`, { itemIndex: item });
    }
  }
  return body;
}

/** The caller's own, else one that a repeat of the same execution has too. */
function keyFor(context: IExecuteFunctions, item: number, parts: readonly unknown[]): string {
  const own = (context.getNodeParameter('more', item, {}) as IDataObject).idempotencyKey;
  if (typeof own === 'string' && own !== '') return own;
  // Where a manual run has no execution of its own, each is another one.
  const execution = context.getExecutionId() ?? `${Date.now()} ${Math.random()}`;
  const run = context.evaluateExpression('{{ $runIndex }}', item);
  return keyOf([
    context.getInstanceId(),
    context.getWorkflow().id,
    execution,
    context.getNode().id,
    run,
    item,
    ...parts,
  ]);
}

async function listOf(context: IExecuteFunctions, item: number, action: Action, path: string): Promise<IDataObject[]> {
  const isAll = context.getNodeParameter('returnAll', item) as boolean;
  const most = isAll ? Infinity : (context.getNodeParameter('limit', item) as number);
  const filters = chosen(context, item, 'filters');
  const found: IDataObject[] = [];
  let place: IDataObject | null = {};
  while (place !== null && found.length < most) {
    const limit = action.paged ? { limit: Math.min(PAGE, most - found.length) } : {};
    const answer = await heraldRequest(context, { method: 'GET', path, qs: { ...filters, ...limit, ...place } });
    found.push(...(answer.data as IDataObject[]));
    place = placeBehind((answer.pagination ?? {}) as IDataObject);
  }
  return isAll ? found : found.slice(0, most);
}

/** The query of the next page; null: there is none. */
function placeBehind({ next_before: before, next_before_id: id, next_after: after }: IDataObject): IDataObject | null {
  if (before && id) return { before, before_id: id };
  return after ? { after } : null;
}
