import { invalidParam } from '../graph-error.js';
import { fits, MEDIA_KINDS, type MediaKind, type MediaStore } from '../media/media-store.js';
import { invalidValue, isObject, type JsonObject, missing, type Param } from '../http/param.js';

/** Checks of each message type except `template`, whose rules need the stored template. */
export const CONTENT_CHECKS: Readonly<Record<string, (body: Param) => void>> = {
  text: (body) => {
    const text = body.object('text');
    text.only('body', 'preview_url');
    text.text('body', 4096);
    const { isGiven, value, path } = text.get('preview_url');
    if (isGiven && ![true, false, 'true', 'false'].includes(value as never)) {
      throw invalidParam(`Param ${path} must be a boolean.`);
    }
  },
  location: (body) => {
    const location = body.object('location');
    location.only('latitude', 'longitude', 'name', 'address');
    checkPlace(location);
    location.optionalText('name', 1000);
    location.optionalText('address', 1000);
  },
  contacts: (body) => {
    for (const contact of body.objects('contacts', 1, 257)) checkContact(contact);
  },
  reaction: (body) => {
    const reaction = body.object('reaction');
    reaction.only('message_id', 'emoji');
    reaction.text('message_id', 512);
    // An empty emoji removes the reaction, so it may be empty but not absent.
    if (reaction.optionalText('emoji', 64) === undefined) throw missing("reaction['emoji']");
  },
  interactive: (body) => checkInteractive(body.object('interactive')),
  ...Object.fromEntries(MEDIA_KINDS.map((kind) => [kind, (body: Param) => checkMedia(body, kind)])),
};

/** The fields of a contact's card that are lists of objects, with the keys of each object. */
const CARD_LISTS: Readonly<Record<string, readonly string[]>> = {
  addresses: ['street', 'city', 'state', 'zip', 'country', 'country_code', 'type'],
  emails: ['email', 'type'],
  phones: ['phone', 'wa_id', 'type'],
  urls: ['url', 'type'],
};

function checkContact(contact: Param): void {
  contact.only('name', 'birthday', 'org', ...Object.keys(CARD_LISTS));
  const name = contact.object('name');
  name.text('formatted_name', 1000);
  checkTexts(name, ['formatted_name', 'first_name', 'last_name', 'middle_name', 'suffix', 'prefix']);
  for (const [list, keys] of Object.entries(CARD_LISTS)) {
    if (!contact.get(list).isGiven) continue;
    for (const item of contact.objects(list, 0, Infinity)) checkTexts(item, keys);
  }
  if (contact.get('org').isGiven) checkTexts(contact.object('org'), ['company', 'department', 'title']);
  const birthday = contact.optionalText('birthday', 1000);
  if (birthday !== undefined && !/^\d{4}-\d\d-\d\d$/.test(birthday)) throw invalidValue('birthday must be YYYY-MM-DD');
}

function checkTexts(param: Param, keys: readonly string[]): void {
  param.only(...keys);
  for (const key of keys) param.optionalText(key, 1000);
}

export function checkPlace(location: Param): void {
  location.degrees('latitude', 90);
  location.degrees('longitude', 180);
}

/** The fields of each kind of file besides `id` and `link`. */
const MEDIA_EXTRAS: Readonly<Record<MediaKind, readonly string[]>> = {
  image: ['caption'],
  video: ['caption'],
  audio: ['voice'],
  document: ['caption', 'filename'],
  sticker: [],
};

/** Checks the object that names a file: exactly one of `id` and `link`, and only fields of its kind. */
export function checkMedia(parent: Param, kind: MediaKind): void {
  const media = parent.object(kind);
  const { path } = media;
  media.only('id', 'link', 'provider', ...MEDIA_EXTRAS[kind]);
  const { value } = media.get('id');
  const id = typeof value === 'number' ? String(value) : media.optionalText('id', 128);
  const link = media.optionalText('link', 2048);
  if (id === undefined && link === undefined) throw invalidParam(`Param ${path} must have one of "id" or "link".`);
  if (id !== undefined && link !== undefined) throw invalidParam(`Param ${path} can't have both "id" and "link".`);
  if (link !== undefined) media.url('link', 2048);
  if (id !== undefined && !/^\d{1,32}$/.test(id)) throw invalidValue(`${path}: media id is not valid`);
  media.optionalText('caption', 1024);
  media.optionalText('filename', 240);
  media.flag('voice');
}

const named = (name: string) => (action: Param) => requireName(action, name);

/** Checks of `action`, by interactive type. Types without published limits for the action only need an object. */
const ACTION_CHECKS = {
  button: (action) => void checkReplies(action, 'reply', 'Button'),
  list: checkList,
  cta_url: checkCtaUrl,
  location_request_message: named('send_location'),
  request_contact_info: named('request_contact_info'),
  flow: checkFlow,
  carousel: checkCarousel,
  product: checkProduct,
  product_list: checkProducts,
  catalog_message: (action) => {
    requireName(action, 'catalog_message');
    if (action.get('parameters').isGiven)
      action.object('parameters').optionalText('thumbnail_product_retailer_id', 256);
  },
  call_permission_request: named('call_permission_request'),
  voice_call: named('voice_call'),
  address_message: (action) => {
    requireName(action, 'address_message');
    const parameters = action.object('parameters');
    if (!/^[a-z]{2}$/i.test(parameters.text('country', 1000))) throw invalidValue('country must be an ISO code');
    if (!parameters.get('saved_addresses').isGiven) return;
    for (const address of parameters.objects('saved_addresses', 0, Infinity)) {
      address.text('id', 1000);
      address.object('value');
    }
  },
  order_details: () => undefined,
  order_status: () => undefined,
} satisfies Record<string, (action: Param) => void>;

type InteractiveType = keyof typeof ACTION_CHECKS;
const INTERACTIVE_TYPES = Object.keys(ACTION_CHECKS) as InteractiveType[];

/** Interactive types that may have no header, or no footer. */
const WITHOUT: Readonly<Record<'header' | 'footer', readonly InteractiveType[]>> = {
  header: ['product', 'catalog_message', 'carousel', 'location_request_message'],
  footer: ['carousel'],
};

/** Checks an `interactive` object against the platform's published limits. @throws GraphError 100, 131008 or 131009 */
function checkInteractive(interactive: Param): void {
  const type = interactive.oneOf('type', INTERACTIVE_TYPES);
  for (const part of ['header', 'footer'] as const) {
    if (!WITHOUT[part].includes(type) || !interactive.get(part).isGiven) continue;
    throw invalidParam(`Unexpected key "${part}" for ${type}.`);
  }
  if (interactive.get('header').isGiven || type === 'product_list') checkHeader(interactive.object('header'), type);
  if (interactive.get('body').isGiven || type !== 'product') {
    interactive.object('body').text('text', type === 'list' ? 4096 : 1024);
  }
  if (interactive.get('footer').isGiven) interactive.object('footer').text('text', 60);
  ACTION_CHECKS[type](interactive.object('action'));
}

function checkHeader(header: Param, type: InteractiveType): void {
  const kind = header.oneOf('type', ['text', 'image', 'video', 'document']);
  if ((type === 'list' || type === 'product_list') && kind !== 'text') {
    throw invalidValue(`Header type ${kind} is not supported for ${type} messages`);
  }
  if (kind === 'text') header.text('text', 60);
  else checkMedia(header, kind);
}

/** @returns the number of buttons */
function checkReplies(action: Param, type: string, what: string): number {
  const replies = action.objects('buttons', 1, 3).map((button) => {
    button.oneOf('type', [type]);
    return button.object(type);
  });
  const ids = replies.map((reply) => reply.label('id', `${what} id`, 256));
  requireUnique(ids, `${what} ids`);
  const titles = replies.map((reply) => reply.label('title', `${what} title`, 20));
  requireUnique(titles, `${what} titles`);
  return replies.length;
}

function requireUnique(values: readonly string[], what: string): void {
  if (new Set(values).size < values.length) throw invalidValue(`${what} must be unique`);
}

function checkList(action: Param): void {
  action.label('button', 'List button', 20);
  const ids = itemsOf(action, 'rows', 'row', 10).map((row) => {
    row.label('title', 'Row title', 24);
    row.label('description', 'Row description', 72, 0);
    return row.label('id', 'Row id', 200);
  });
  requireUnique(ids, 'Row ids');
}

function checkProducts(action: Param): void {
  action.text('catalog_id', 256);
  for (const product of itemsOf(action, 'product_items', 'product', 30)) product.text('product_retailer_id', 256);
}

/** The items of all sections, at most `most`; with several sections each needs a title. */
function itemsOf(action: Param, key: string, what: string, most: number): Param[] {
  const sections = action.objects('sections', 1, 10);
  const items = sections.flatMap((section) => {
    if (sections.length > 1 || section.get('title').isGiven) section.label('title', 'Section title', 24);
    return section.objects(key, 1, most);
  });
  if (items.length <= most) return items;
  throw invalidValue(`Total ${what} count exceed max allowed count: ${most} (got ${items.length})`);
}

function checkCtaUrl(action: Param): void {
  requireName(action, 'cta_url');
  const parameters = action.object('parameters');
  parameters.label('display_text', 'Display text', 20);
  parameters.url('url', 2000);
}

function checkFlow(action: Param): void {
  requireName(action, 'flow');
  const parameters = action.object('parameters');
  parameters.text('flow_message_version', 8);
  parameters.label('flow_cta', 'Flow CTA', 30);
  const id = parameters.optionalText('flow_id', 128);
  const name = parameters.optionalText('flow_name', 200);
  if (id === undefined && name === undefined) throw missing(parameters.get('flow_id').path);
  if (id !== undefined && name !== undefined) throw invalidValue('Only one of flow_id and flow_name is allowed');
  if (parameters.get('flow_action').isGiven) parameters.oneOf('flow_action', ['navigate', 'data_exchange']);
  if (parameters.get('flow_action_payload').isGiven) parameters.object('flow_action_payload');
  if (parameters.get('mode').isGiven) parameters.oneOf('mode', ['draft', 'published']);
}

function checkProduct(action: Param): void {
  action.text('catalog_id', 256);
  action.text('product_retailer_id', 256);
}

function checkCarousel(interactiveAction: Param): void {
  const cards = interactiveAction.objects('cards', 2, 10);
  const indexes = cards.map((card) => {
    const { value, path } = card.get('card_index');
    if (!Number.isInteger(value) || Number(value) < 0 || Number(value) > 9)
      throw invalidValue(`${path} must be 0 to 9`);
    return String(value);
  });
  requireUnique(indexes, 'Card indexes');
  const forms = new Set(cards.map(checkCard));
  if (forms.size > 1) throw invalidValue(`All cards must have the same buttons - got ${[...forms].join(', ')}`);
}

/** @returns the properties that all cards must share */
function checkCard(card: Param): string {
  const action = card.object('action');
  if (card.get('type').value === 'product') {
    checkProduct(action);
    return `product of ${action.text('catalog_id', 256)}`;
  }
  const header = card.object('header');
  checkMedia(header, header.oneOf('type', ['image', 'video']));
  if (card.get('body').isGiven) {
    const text = card.object('body').label('text', 'Card body', 160, 0);
    if (text.split(/\r\n|\r|\n/).length > 3) throw invalidValue('Card body has more than 2 line breaks');
  }
  if (action.get('name').value === 'cta_url') {
    checkCtaUrl(action);
    return 'cta_url';
  }
  return `${checkReplies(action, 'quick_reply', 'Quick reply')} quick_reply`;
}

function requireName(action: Param, name: string): void {
  const { value, path } = action.get('name');
  if (value !== name) throw invalidParam(`Param ${path} must be "${name}".`);
}

/** The id in WhatsApp's own examples: it always exists, as any kind, so that examples can be tried. */
const EXAMPLE_MEDIA_ID = '1037543291543636';

/** Data of flows, with any content. */
const OPAQUE = ['flow_action_payload', 'flow_action_data'];
const DEEPEST = 12;

/**
 * Looks up all files in a checked message.
 * @returns false where the message is accepted and fails by notification: a file of another kind, bytes that do not
 * match the type, or a link that certainly leads nowhere (a host below `.invalid`)
 * @throws GraphError 131009 for an id that is gone, was never given out, or belongs to another number
 */
export function mediaIsUsable(body: JsonObject, type: string, media: MediaStore, phoneNumberId: string): boolean {
  if (type === 'text' || type === 'reaction' || type === 'location' || type === 'contacts') return true;
  const fileIsUsable = (kind: MediaKind, { id, link }: JsonObject): boolean => {
    if (typeof link === 'string' && /^https?:\/\/[^/?#]*\.invalid(?:[:/?#]|$)/i.test(link)) return false;
    if ((typeof id !== 'string' && typeof id !== 'number') || String(id) === EXAMPLE_MEDIA_ID) return true;
    const file = media.get(String(id));
    if (file?.phoneNumberId === phoneNumberId) return file.usable && fits(file.mimeType, kind);
    throw invalidValue(`Media with id ${id} does not exist, or does not belong to this phone number`);
  };
  const isUsable = (value: unknown, depth: number): boolean => {
    if (depth > DEEPEST || typeof value !== 'object' || value === null) return true;
    // All of them, since a later one may not exist.
    const each = Object.entries(value).map(([key, inner]: [string, unknown]) => {
      const kind = MEDIA_KINDS.find((one) => one === key);
      if (kind !== undefined && isObject(inner)) return fileIsUsable(kind, inner);
      return OPAQUE.includes(key) || isUsable(inner, depth + 1);
    });
    return !each.includes(false);
  };
  return isUsable({ [type]: body[type] }, 0);
}
