import { isObject } from '../../common/json.js';
import type { CloudApiClient } from '../../infrastructure/whatsapp/cloud-api-client.js';
import {
  own,
  ownId,
  ownInteger,
  ownList,
  ownObject,
  ownText,
  storableJson,
} from '../../infrastructure/whatsapp/json-access.js';
import { failure, type PlatformFailure } from '../../infrastructure/whatsapp/platform-result.js';
import type { PlatformTemplate } from './entities/template.entity.js';
import { reasonOf, statusOf, type TemplateCategory, type TemplateComponent } from './templates.types.js';

/** All fields of the mirror; WhatsApp returns some only on request. */
const FIELDS =
  'id,name,language,status,category,parameter_format,components,quality_score,rejected_reason,message_send_ttl_seconds';

/**
 * WhatsApp allows 5,000 calls an hour and 6,000 templates per account. With its default of 25 per page, an account read
 * each minute would need three times as many calls. A page may still have fewer than requested.
 */
const PAGE_SIZE = 100;

/** The column's maximum. */
const MAX_SECONDS = 2_147_483_647;

/** 6,000 templates in pages of 25, and some to spare. */
const MAX_PAGES = 300;

export interface Listing {
  readonly ok: true;
  /** At most one per name and language. */
  readonly templates: PlatformTemplate[];
  /** False where a part of the list could not be read: templates missing here may still exist. */
  readonly complete: boolean;
}

/**
 * Reads WhatsApp's list of an account's templates, page by page.
 *
 * @param goOn called before each page but the first; false stops.
 * @returns the failure of the first page that failed; null where it was stopped.
 */
export async function readListing(
  client: CloudApiClient,
  { wabaId, token }: { wabaId: string; token: string },
  goOn: () => Promise<boolean>,
): Promise<Listing | PlatformFailure | null> {
  const found = new Map<string, PlatformTemplate>();
  const cursors = new Set<string>();
  let complete = true;
  let after: string | null = null;
  for (let page = 0; page < MAX_PAGES; page++) {
    if (page > 0 && !(await goOn())) return null;
    const result = await client.request({
      method: 'GET',
      path: `/${encodeURIComponent(wabaId)}/message_templates`,
      token,
      query: { fields: FIELDS, limit: String(PAGE_SIZE), ...(after !== null && { after }) },
    });
    if (!result.ok) return result;
    if (!Array.isArray(own(result.body, 'data'))) return unreadable(result.status);
    for (const item of ownList(result.body, 'data')) {
      const template = readTemplate(item);
      if (template === null) complete = false;
      else if (template !== 'gone') keepNewest(found, template);
    }
    const paging = ownObject(result.body, 'paging');
    // Only `next` shows that there is another page; the last page has a cursor too.
    after = ownText(paging, 'next') === null ? null : ownText(ownObject(paging, 'cursors'), 'after');
    if (after === null) return { ok: true, templates: [...found.values()], complete };
    if (cursors.has(after)) return unreadable(result.status);
    cursors.add(after);
  }
  return { ok: true, templates: [...found.values()], complete: false };
}

/** A name that was deleted and created again may be listed twice. */
function keepNewest(found: Map<string, PlatformTemplate>, template: PlatformTemplate): void {
  const key = `${template.name} ${template.language}`;
  const known = found.get(key);
  if (known === undefined || known.status === 'pending_deletion') found.set(key, template);
}

/** Null where it can't be read; `gone` where WhatsApp lists a template that no longer exists. */
export function readTemplate(received: unknown): PlatformTemplate | 'gone' | null {
  const item = storableJson(received);
  const [platformId, name, language] = [ownId(item, 'id'), ownText(item, 'name'), ownText(item, 'language')];
  const platformStatus = ownText(item, 'status')?.toUpperCase();
  const category = ownText(item, 'category')?.toUpperCase();
  if (platformId === null || !isShort(name, 512) || !isShort(language, 64)) return null;
  if (!isShort(platformStatus, 64) || !isShort(category, 64)) return null;
  if (platformStatus === 'DELETED') return 'gone';
  const seconds = ownInteger(item, 'message_send_ttl_seconds');
  return {
    platformId,
    name,
    language,
    status: statusOf(platformStatus),
    platformStatus,
    category: category as TemplateCategory,
    parameterFormat: ownText(item, 'parameter_format')?.toUpperCase() === 'NAMED' ? 'NAMED' : 'POSITIONAL',
    quality: ownText(ownObject(item, 'quality_score'), 'score') ?? ownText(item, 'quality_score'),
    rejectedReason: reasonOf(ownText(item, 'rejected_reason')),
    // WhatsApp's default is no value, or one that can't be stored.
    messageSendTtlSeconds: seconds === null || Math.abs(seconds) > MAX_SECONDS ? null : seconds,
    components: ownList(item, 'components').filter(isComponent),
  };
}

function isShort(text: string | null | undefined, max: number): text is string {
  return typeof text === 'string' && text !== '' && [...text].length <= max;
}

function isComponent(value: unknown): value is TemplateComponent {
  return isObject(value) && typeof value.type === 'string';
}

function unreadable(status: number): PlatformFailure {
  return failure('unavailable', { status, message: 'The platform answered something that is no list of templates.' });
}
