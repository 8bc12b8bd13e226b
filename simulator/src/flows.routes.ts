import { GraphError, invalidParam } from './graph-error.js';
import { GraphNode, type Route, SUCCESS } from './http/call.js';
import { own, Shape } from './http/fields.js';
import { isObject, jsonOf, type Param } from './http/param.js';
import { accountHealth, healthOf, SIMULATED_APP } from './numbers/numbers.js';
import type { Platform } from './platform.js';

// prettier-ignore
const CATEGORIES = [
  'SIGN_UP', 'SIGN_IN', 'APPOINTMENT_BOOKING', 'LEAD_GENERATION', 'SHOPPING', 'CONTACT_US', 'CUSTOMER_SUPPORT', 'SURVEY',
  'OTHER',
];
const MAX_NAME_LENGTH = 200;

interface Flow {
  id: string;
  wabaId: string;
  name: string;
  status: 'DRAFT' | 'PUBLISHED' | 'DEPRECATED';
  categories: string[];
  endpointUri?: string;
  /** Its screens, as they were given; absent until then. */
  json?: string;
}

const FLOW = new Shape<Flow>(
  'WhatsAppFlow',
  {
    ...own('id', 'name', 'status', 'categories'),
    validation_errors: (flow) => errorsOf(flow),
    json_version: ({ json }) => partOf(json, 'version'),
    data_api_version: ({ json }) => partOf(json, 'data_api_version'),
    endpoint_uri: ({ endpointUri }) => endpointUri,
    // A page of the platform's shape, where nothing is.
    preview: ({ id }) => ({
      preview_url: `https://business.facebook.com/wa/manage/flows/${id}/preview/?token=simulated`,
      expires_at: '2036-01-05T09:30:00+0000',
    }),
    whatsapp_business_account: ({ wabaId }) => ({ id: wabaId }),
    application: () => SIMULATED_APP,
    health_status: ({ id, wabaId }) => healthOf([['FLOW', id, 'AVAILABLE'], ...accountHealth(wabaId)]),
  },
  ['id', 'name', 'status', 'categories', 'validation_errors'],
);

/** Flows: forms within a chat. They are kept and go from draft to published to deprecated; no customer fills one in. */
export function flowRoutes({ nodes, store, ids, notifyAccount }: Platform): Route[] {
  const flows = store.table<Flow>('flows');
  const node = new GraphNode('flow', (id) => flows.get(id));
  const flowsOf = (wabaId: string) => [...flows.values()].filter((flow) => flow.wabaId === wabaId);
  const move = (flow: Flow, status: Flow['status']) => {
    flows.set(flow.id, { ...flow, status });
    notifyAccount(flow.wabaId, 'flows', {
      event: 'FLOW_STATUS_CHANGE',
      message: `Flow ${flow.name} was changed from ${flow.status} to ${status}.`,
      flow_id: flow.id,
      old_status: flow.status,
      new_status: status,
    });
    return SUCCESS;
  };
  const publish = (flow: Flow) => {
    requireStatus(flow, 'DRAFT', 139002, `The flow is ${flow.status}; it must be DRAFT`);
    if (errorsOf(flow).length > 0) throw new GraphError(139002, 'The flow has validation errors');
    return move(flow, 'PUBLISHED');
  };
  const deprecate = (flow: Flow) => {
    requireStatus(flow, 'PUBLISHED', 139003, `The flow is ${flow.status}; it must be PUBLISHED`);
    return move(flow, 'DEPRECATED');
  };
  const create = (wabaId: string, param: Param) => {
    param.required('name');
    const name = nameOf(flowsOf(wabaId), param);
    const cloned = param.optionalText('clone_flow_id', 128);
    const source = cloned === undefined ? undefined : flows.get(cloned);
    if (cloned !== undefined && source?.wabaId !== wabaId) throw invalidParam('Param clone_flow_id is no flow here.');
    const flow: Flow = {
      id: ids.newObjectId(),
      wabaId,
      name: name ?? '',
      status: 'DRAFT',
      categories: categoriesOf(param) ?? ['OTHER'],
      endpointUri: endpointOf(param),
      json: param.get('flow_json').isGiven ? textOf(param.get('flow_json').value) : source?.json,
    };
    flows.set(flow.id, flow);
    const errors = errorsOf(flow);
    if (param.flag('publish') && errors.length === 0) publish(flow);
    return { id: flow.id, success: true, validation_errors: errors };
  };
  const change = (flow: Flow, param: Param) => {
    requireStatus(flow, 'DRAFT', 139001, 'Only a draft can be changed');
    const others = flowsOf(flow.wabaId).filter(({ id }) => id !== flow.id);
    flows.set(flow.id, {
      ...flow,
      name: nameOf(others, param) ?? flow.name,
      categories: categoriesOf(param) ?? flow.categories,
      endpointUri: endpointOf(param) ?? flow.endpointUri,
    });
    return SUCCESS;
  };
  const upload = (flow: Flow, param: Param) => {
    requireStatus(flow, 'DRAFT', 139001, 'Only a draft can be changed');
    if (param.get('asset_type').isGiven) param.oneOf('asset_type', ['FLOW_JSON']);
    const file = param.get('file');
    if (!file.isGiven) throw invalidParam('The parameter file is required.');
    const changed = { ...flow, json: textOf(file.value) };
    flows.set(flow.id, changed);
    return { success: true, validation_errors: errorsOf(changed) };
  };
  return [
    nodes.account.on('get', '/flows', (wabaId, call) => FLOW.page(call, flowsOf(wabaId), ({ id }) => id)),
    nodes.account.on('post', '/flows', (wabaId, { param }) => create(wabaId, param)),
    node.on('get', '', (flow, call) => FLOW.show(flow, call)),
    node.on('post', '', (flow, { param }) => change(flow, param)),
    node.on('delete', '', (flow) => {
      requireStatus(flow, 'DRAFT', 139004, 'Only a draft can be deleted');
      flows.delete(flow.id);
      return SUCCESS;
    }),
    node.on('get', '/assets', ({ id, json }, { ownAddress }) => {
      const download_url = `${ownAddress}/${id}/assets/flow.json`;
      return { data: json === undefined ? [] : [{ name: 'flow.json', asset_type: 'FLOW_JSON', download_url }] };
    }),
    node.on('get', '/assets/flow.json', ({ json }) => json ?? {}),
    node.on('post', '/assets', (flow, { param }) => upload(flow, param)),
    node.on('post', '/publish', publish),
    node.on('post', '/deprecate', deprecate),
  ];
}

function requireStatus(flow: Flow, status: Flow['status'], code: number, details: string): void {
  if (flow.status !== status) throw new GraphError(code, details);
}

/** A name is unique within its account. */
function nameOf(others: readonly Flow[], param: Param): string | undefined {
  const name = param.optionalText('name', MAX_NAME_LENGTH);
  if (name === '') throw invalidParam('The parameter name is required.');
  if (!others.some((flow) => flow.name === name)) return name;
  throw new GraphError(100, {
    userTitle: 'Flow name is not unique',
    userMessage: `A flow of this account is named ${name} already. Use another name.`,
  });
}

function categoriesOf(param: Param): string[] | undefined {
  const what = `some of {${CATEGORIES.join(', ')}}`;
  const categories = param.optionalTexts('categories', CATEGORIES.length, (each) => CATEGORIES.includes(each), what);
  if (categories?.length === 0) throw invalidParam(`Param categories must be an array of ${what}.`);
  return categories;
}

function endpointOf(param: Param): string | undefined {
  const uri = param.optionalUrl('endpoint_uri', 2048);
  return uri === '' ? undefined : uri;
}

/** Only the outermost form is looked at: JSON with a version and screens. */
function errorsOf({ json }: Flow): object[] {
  const error = (message: string) => [{ error: 'INVALID_FLOW_JSON', error_type: 'FLOW_JSON_ERROR', message }];
  if (json === undefined) return error('The flow has no JSON yet.');
  if (typeof partOf(json, 'version') !== 'string') return error('The JSON needs a version.');
  const screens = partOf(json, 'screens');
  return Array.isArray(screens) && screens.length > 0 ? [] : error('The JSON needs screens.');
}

function partOf(json: string | undefined, name: string): unknown {
  const value = jsonOf(json ?? '');
  return isObject(value) ? value[name] : undefined;
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
