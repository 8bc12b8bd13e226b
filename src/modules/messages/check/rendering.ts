import type { JsonObject } from '../../../common/json.js';
import { MEDIA_FIELDS } from '../../../infrastructure/whatsapp/message-body.js';
import { own, ownList, ownText } from '../../../infrastructure/whatsapp/json-access.js';
import { isMediaType } from '../../message-state/file-references.types.js';
import type { RenderedButtonResponse, RenderedMessageResponse } from '../dto/check-message.js';

export const NOTHING_RENDERED: RenderedMessageResponse = { header: null, body: null, footer: null, buttons: [] };

/** WhatsApp's own labels for these kinds, in English; the recipient sees them in their language. */
const OWN_LABELS: Readonly<Record<string, string>> = {
  location_request_message: 'Send location',
  request_contact_info: 'Share contact info',
  address_message: 'Provide address',
  catalog_message: 'View catalog',
  product: 'View',
  product_list: 'View items',
};

/** A message of any kind but a template, as its recipient sees it. A template is rendered from its own text. */
export function renderContent(type: string, content: JsonObject, body: string | null): RenderedMessageResponse {
  if (isMediaType(type)) {
    const header = { format: type.toUpperCase(), text: null };
    return { ...NOTHING_RENDERED, header, body: MEDIA_FIELDS[type]?.includes('caption') === true ? body : null };
  }
  if (type === 'reaction') return { ...NOTHING_RENDERED, body: ownText(content, 'emoji') };
  if (type === 'location') {
    return { ...NOTHING_RENDERED, header: { format: 'LOCATION', text: ownText(content, 'name') }, body };
  }
  if (type !== 'interactive') return { ...NOTHING_RENDERED, body };
  const header = own(content, 'header');
  const format = ownText(header, 'type');
  return {
    header: format === null ? null : { format: format.toUpperCase(), text: ownText(header, 'text') },
    body,
    footer: ownText(own(content, 'footer'), 'text'),
    buttons: buttonsOf(ownText(content, 'type') ?? '', own(content, 'action')),
  };
}

function buttonsOf(kind: string, action: unknown): RenderedButtonResponse[] {
  const parameters = own(action, 'parameters');
  const text = (of: unknown, key: string): string => ownText(of, key) ?? '';
  switch (kind) {
    case 'button':
      return ownList(action, 'buttons').map((button) => ({
        type: 'QUICK_REPLY',
        text: text(own(button, 'reply'), 'title'),
      }));
    case 'list':
      return [{ type: 'LIST', text: text(action, 'button') }];
    case 'cta_url':
      return [{ type: 'URL', text: text(parameters, 'display_text'), url: text(parameters, 'url') }];
    case 'flow':
      return [{ type: 'FLOW', text: text(parameters, 'flow_cta') }];
    default: {
      const label = OWN_LABELS[kind];
      return label === undefined ? [] : [{ type: kind.toUpperCase(), text: label }];
    }
  }
}
