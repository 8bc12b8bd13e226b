import type { Request } from 'express';
import { GraphError, invalidParam, unknownObject } from './graph-error.js';
import { type Fields, fieldsOf, pick } from './http/fields.js';
import { parametersOf } from './http/parameters.js';
import { isObject, ownAddress, pageOf, pathId, type Route, SUCCESS } from './http/route.js';
import type { IdSource } from './ids.js';
import { Param } from './messages/param.js';
import { accountHealth, healthOf, SIMULATED_APP } from './numbers/health.js';
import type { Table } from './store.js';
import type { NotifyAccount } from './templates/template-reviewer.js';

// prettier-ignore
const CATEGORIES = [
  'SIGN_UP', 'SIGN_IN', 'APPOINTMENT_BOOKING', 'LEAD_GENERATION', 'SHOPPING', 'CONTACT_US', 'CUSTOMER_SUPPORT', 'SURVEY',
  'OTHER',
];
const LONGEST_NAME = 200;

export interface Flow {
  id: string;
  wabaId: string;
  name: string;
  status: 'DRAFT' | 'PUBLISHED' | 'DEPRECATED';
  categories: string[];
  endpointUri?: string;
  /** Its screens, as they were given; absent until then. */
  json?: string;
}

const FIELDS: Fields<Flow> = {
  id: ({ id }) => id,
  name: ({ name }) => name,
  status: ({ status }) => status,
  categories: ({ categories }) => categories,
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
};
const USUAL_FIELDS = ['id', 'name', 'status', 'categories', 'validation_errors'];

export interface FlowParts {
  flows: Table<Flow>;
  ids: IdSource;
  notifyAccount: NotifyAccount;
}

/** Flows: forms within a chat. They are kept and go from draft to published to deprecated; no customer fills one in. */
export function flowRoutes(parts: FlowParts): Route[] {
  const { flows } = parts;
  const asked = (request: Request) => fieldsOf(request, FIELDS, USUAL_FIELDS, 'WhatsAppFlow');
  const list = (request: Request) => {
    const wabaId = pathId(request, 'waba');
    const fields = asked(request);
    const all = [...flows.values()].filter((flow) => flow.wabaId === wabaId);
    const page = pageOf(all, ({ id }) => id, request);
    return { ...page, data: page.data.map((flow) => pick(flow, FIELDS, fields)) };
  };
  const assets = (request: Request) => {
    const { id, json } = flowOf(flows, request);
    const download_url = `${ownAddress(request)}/${id}/assets/flow.json`;
    return { data: json === undefined ? [] : [{ name: 'flow.json', asset_type: 'FLOW_JSON', download_url }] };
  };
  const remove = (request: Request) => {
    const { id, status } = flowOf(flows, request);
    if (status !== 'DRAFT') throw new GraphError(139004, { details: 'Only a draft can be deleted' });
    flows.delete(id);
    return SUCCESS;
  };
  return [
    ['GET', '/:waba/flows', list],
    ['POST', '/:waba/flows', (request) => create(parts, request)],
    ['GET', '/:flow', (request) => pick(flowOf(flows, request), FIELDS, asked(request))],
    ['POST', '/:flow', (request) => change(parts, request)],
    ['DELETE', '/:flow', remove],
    ['GET', '/:flow/assets', assets],
    ['GET', '/:flow/assets/flow.json', (request) => flowOf(flows, request).json ?? {}],
    ['POST', '/:flow/assets', (request) => upload(parts, request)],
    ['POST', '/:flow/publish', (request) => publish(parts, flowOf(flows, request))],
    ['POST', '/:flow/deprecate', (request) => deprecate(parts, flowOf(flows, request))],
  ];
}

function flowOf(flows: Table<Flow>, request: Request): Flow {
  const id = pathId(request, 'flow');
  const flow = flows.get(id);
  if (flow === undefined) throw unknownObject(request.method, id);
  return flow;
}

function create(parts: FlowParts, request: Request): object {
  const { flows, ids } = parts;
  const wabaId = pathId(request, 'waba');
  const param = Param.body(parametersOf(request));
  const name = nameOf(parts, param, wabaId, undefined);
  if (name === undefined) throw invalidParam('The parameter name is required.');
  const cloned = param.optionalText('clone_flow_id', 128);
  const source = cloned === undefined ? undefined : flows.get(cloned);
  if (cloned !== undefined && source?.wabaId !== wabaId) throw invalidParam('Param clone_flow_id is no flow here.');
  const flow: Flow = {
    id: ids.newObjectId(),
    wabaId,
    name,
    status: 'DRAFT',
    categories: categoriesOf(param) ?? ['OTHER'],
    endpointUri: endpointOf(param),
    json: param.get('flow_json').isGiven ? textOf(param.get('flow_json').value) : source?.json,
  };
  flows.set(flow.id, flow);
  const errors = errorsOf(flow);
  if (param.flag('publish') && errors.length === 0) publish(parts, flow);
  return { id: flow.id, success: true, validation_errors: errors };
}

function change(parts: FlowParts, request: Request): object {
  const flow = flowOf(parts.flows, request);
  if (flow.status !== 'DRAFT') throw new GraphError(139001, { details: 'Only a draft can be changed' });
  const param = Param.body(parametersOf(request));
  parts.flows.set(flow.id, {
    ...flow,
    name: nameOf(parts, param, flow.wabaId, flow.id) ?? flow.name,
    categories: categoriesOf(param) ?? flow.categories,
    endpointUri: endpointOf(param) ?? flow.endpointUri,
  });
  return SUCCESS;
}

/** A name is unique within its account. */
function nameOf({ flows }: FlowParts, param: Param, wabaId: string, own: string | undefined): string | undefined {
  const name = param.optionalText('name', LONGEST_NAME);
  if (name === '') throw invalidParam('The parameter name is required.');
  const isTaken = [...flows.values()].some((flow) => flow.wabaId === wabaId && flow.name === name && flow.id !== own);
  if (!isTaken) return name;
  throw new GraphError(100, {
    userTitle: 'Flow name is not unique',
    userMessage: `A flow of this account is named ${name} already. Use another name.`,
  });
}

function categoriesOf(param: Param): string[] | undefined {
  const { value, isGiven } = param.get('categories');
  if (!isGiven) return undefined;
  const list = Array.isArray(value) ? (value as unknown[]) : [];
  if (list.length === 0 || !list.every((each) => CATEGORIES.includes(each as string))) {
    throw invalidParam(`Param categories must be an array of some of {${CATEGORIES.join(', ')}}.`);
  }
  return list as string[];
}

function endpointOf(param: Param): string | undefined {
  const uri = param.optionalText('endpoint_uri', 2048);
  if (uri !== undefined && uri !== '') param.url('endpoint_uri', 2048);
  return uri === '' ? undefined : uri;
}

function upload({ flows }: FlowParts, request: Request): object {
  const flow = flowOf(flows, request);
  if (flow.status !== 'DRAFT') throw new GraphError(139001, { details: 'Only a draft can be changed' });
  const param = Param.body(parametersOf(request));
  if (param.get('asset_type').isGiven) param.oneOf('asset_type', ['FLOW_JSON']);
  if (!param.get('file').isGiven) throw invalidParam('The parameter file is required.');
  const changed = { ...flow, json: textOf(param.get('file').value) };
  flows.set(flow.id, changed);
  const errors = errorsOf(changed);
  return { success: true, validation_errors: errors };
}

function publish(parts: FlowParts, flow: Flow): object {
  if (flow.status !== 'DRAFT')
    throw new GraphError(139002, { details: `The flow is ${flow.status}; it must be DRAFT` });
  if (errorsOf(flow).length > 0) throw new GraphError(139002, { details: 'The flow has validation errors' });
  return move(parts, flow, 'PUBLISHED');
}

function deprecate(parts: FlowParts, flow: Flow): object {
  if (flow.status !== 'PUBLISHED') {
    throw new GraphError(139003, { details: `The flow is ${flow.status}; it must be PUBLISHED` });
  }
  return move(parts, flow, 'DEPRECATED');
}

function move({ flows, notifyAccount }: FlowParts, flow: Flow, status: Flow['status']): object {
  flows.set(flow.id, { ...flow, status });
  notifyAccount(flow.wabaId, 'flows', {
    event: 'FLOW_STATUS_CHANGE',
    message: `Flow ${flow.name} was changed from ${flow.status} to ${status}.`,
    flow_id: flow.id,
    old_status: flow.status,
    new_status: status,
  });
  return SUCCESS;
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
  try {
    const value: unknown = JSON.parse(json ?? '');
    return isObject(value) ? value[name] : undefined;
  } catch {
    return undefined;
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}
