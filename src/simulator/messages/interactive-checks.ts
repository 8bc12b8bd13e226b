import {
  invalidParam,
  invalidValue,
  isObject,
  type JsonObject,
  longerThan,
  missing,
  optionalString,
  requireObject,
  requireObjects,
  requireOneOf,
  requireString,
  requireUrl,
} from './checks.js';
import { checkMediaReference } from './media-checks.js';

const P = 'interactive';
const HEADER_TYPES = ['text', 'image', 'video', 'document'] as const;

/** Checks of `action`, by the interactive type. Types whose action has no published limits only need an object. */
const ACTION_CHECKS = {
  button: checkButtons,
  list: checkList,
  cta_url: (action: JsonObject) => checkCtaUrl(action, `${P}['action']`),
  location_request_message: (action: JsonObject) => requireName(action, 'send_location'),
  request_contact_info: (action: JsonObject) => requireName(action, 'request_contact_info'),
  flow: checkFlow,
  carousel: checkCarousel,
  product: () => undefined,
  product_list: checkProductList,
  catalog_message: (action: JsonObject) => requireName(action, 'catalog_message'),
  call_permission_request: (action: JsonObject) => requireName(action, 'call_permission_request'),
  voice_call: (action: JsonObject) => requireName(action, 'voice_call'),
  address_message: (action: JsonObject) => requireName(action, 'address_message'),
  order_details: () => undefined,
  order_status: () => undefined,
} satisfies Record<string, (action: JsonObject) => void>;

type InteractiveType = keyof typeof ACTION_CHECKS;
const TYPES = Object.keys(ACTION_CHECKS) as InteractiveType[];

/** Checks an `interactive` object against the platform's published limits. @throws GraphError 100, 131008 or 131009 */
export function checkInteractive(interactive: JsonObject): void {
  const type = requireOneOf(interactive.type, TYPES, `${P}['type']`);
  if (interactive.header !== undefined) checkHeader(requireObject(interactive, 'header', `${P}['header']`), type);
  if (interactive.body !== undefined || type !== 'product') {
    const body = requireObject(interactive, 'body', `${P}['body']`);
    requireString(body, 'text', `${P}['body']['text']`, type === 'list' ? 4096 : 1024);
  }
  if (interactive.footer !== undefined) {
    requireString(requireObject(interactive, 'footer', `${P}['footer']`), 'text', `${P}['footer']['text']`, 60);
  }
  ACTION_CHECKS[type](requireObject(interactive, 'action', `${P}['action']`));
}

function checkHeader(header: JsonObject, type: InteractiveType): void {
  const kind = requireOneOf(header.type, HEADER_TYPES, `${P}['header']['type']`);
  if (type === 'list' && kind !== 'text') throw invalidValue(`Header type ${kind} is not supported for list messages`);
  if (kind === 'text') requireString(header, 'text', `${P}['header']['text']`, 60);
  else checkMediaReference(requireObject(header, kind, `${P}['header']['${kind}']`), kind, `${P}['header']['${kind}']`);
}

function checkButtons(action: JsonObject): void {
  const path = `${P}['action']['buttons']`;
  const buttons = requireObjects(action, 'buttons', path, 1, 3);
  const replies = buttons.map((button, i) => {
    requireOneOf(button.type, ['reply'], `${path}[${i}]['type']`);
    return requireObject(button, 'reply', `${path}[${i}]['reply']`);
  });
  checkReplies(replies, 'Button');
}

function checkReplies(replies: JsonObject[], what: string): void {
  const ids = replies.map((reply) => limited(reply.id, `${what} id`, 256));
  const titles = replies.map((reply) => limited(reply.title, `${what} title`, 20));
  if (new Set(ids).size < ids.length) throw invalidValue(`${what} ids must be unique`);
  if (new Set(titles).size < titles.length) throw invalidValue(`${what} titles must be unique`);
}

function checkList(action: JsonObject): void {
  const path = `${P}['action']['sections']`;
  limited(action.button, 'List button', 20);
  const sections = requireObjects(action, 'sections', path, 1, 10);
  const ids: string[] = [];
  sections.forEach((section, i) => {
    const titleNeeded = sections.length > 1;
    if (titleNeeded || section.title !== undefined) limited(section.title, 'Section title', 24);
    for (const row of requireObjects(section, 'rows', `${path}[${i}]['rows']`, 1, 10)) {
      ids.push(limited(row.id, 'Row id', 200));
      limited(row.title, 'Row title', 24);
      if (row.description !== undefined) limited(row.description, 'Row description', 72, 0);
    }
  });
  if (ids.length > 10) throw invalidValue(`Total row count exceed max allowed count: 10 (got ${ids.length})`);
  if (new Set(ids).size < ids.length) throw invalidValue('Row ids must be unique');
}

function checkCtaUrl(action: JsonObject, path: string): void {
  requireName(action, 'cta_url');
  const parameters = requireObject(action, 'parameters', `${path}['parameters']`);
  limited(parameters.display_text, 'Display text', 20);
  requireUrl(requireString(parameters, 'url', `${path}['parameters']['url']`, 2000), `${path}['parameters']['url']`);
}

function checkFlow(action: JsonObject): void {
  requireName(action, 'flow');
  const path = `${P}['action']['parameters']`;
  const parameters = requireObject(action, 'parameters', path);
  requireString(parameters, 'flow_message_version', `${path}['flow_message_version']`, 8);
  limited(parameters.flow_cta, 'Flow CTA', 30);
  const flowId = optionalString(parameters, 'flow_id', `${path}['flow_id']`, 128);
  const flowName = optionalString(parameters, 'flow_name', `${path}['flow_name']`, 200);
  if (flowId === undefined && flowName === undefined) throw missing(`Parameter '${path}['flow_id']' is mandatory`);
  if (flowId !== undefined && flowName !== undefined)
    throw invalidValue('Only one of flow_id and flow_name is allowed');
  if (parameters.flow_action !== undefined) {
    requireOneOf(parameters.flow_action, ['navigate', 'data_exchange'], `${path}['flow_action']`);
  }
}

function checkCarousel(action: JsonObject): void {
  const path = `${P}['action']['cards']`;
  requireObjects(action, 'cards', path, 1, 10).forEach((card, i) => {
    const header = requireObject(card, 'header', `${path}[${i}]['header']`);
    const kind = requireOneOf(header.type, ['image', 'video'], `${path}[${i}]['header']['type']`);
    checkMediaReference(
      requireObject(header, kind, `${path}[${i}]['header']`),
      kind,
      `${path}[${i}]['header']['${kind}']`,
    );
    if (isObject(card.body)) limited(card.body.text, 'Card body', 160);
    const cardAction = requireObject(card, 'action', `${path}[${i}]['action']`);
    if (cardAction.name === 'cta_url') return checkCtaUrl(cardAction, `${path}[${i}]['action']`);
    const buttons = requireObjects(cardAction, 'buttons', `${path}[${i}]['action']['buttons']`, 1, 3);
    checkReplies(
      buttons.map((button) => requireObject(button, 'quick_reply')),
      'Quick reply',
    );
  });
}

function checkProductList(action: JsonObject): void {
  const path = `${P}['action']['sections']`;
  let products = 0;
  requireObjects(action, 'sections', path, 1, 10).forEach((section, i) => {
    products += requireObjects(section, 'product_items', `${path}[${i}]['product_items']`, 1, 30).length;
  });
  if (products > 30) throw invalidValue(`Total product count exceed max allowed count: 30 (got ${products})`);
}

function requireName(action: JsonObject, name: string): void {
  if (action.name !== name) throw invalidParam(`Param ${P}['action']['name'] must be "${name}".`);
}

/** A short label: 131009 with the platform's own wording where its length is wrong. */
function limited(value: unknown, what: string, max: number, min = 1): string {
  if (value !== undefined && value !== null && typeof value !== 'string')
    throw invalidParam(`${what} must be a string.`);
  const text = value ?? '';
  if (text.length < min || longerThan(text, max)) {
    throw invalidValue(`${what} length invalid. Min length: ${min}, Max length: ${max}`);
  }
  return text;
}
