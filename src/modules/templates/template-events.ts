import { databaseClock } from '../../common/clock.js';
import { ownId, ownText, ownTime } from '../../infrastructure/whatsapp/json-access.js';
import type { ManagementNotification } from '../../infrastructure/whatsapp/webhook-payload.js';
import type { RowChange, TemplateEntity } from './entities/template.entity.js';
import { reasonOf, statusOf, TEMPLATE_CATEGORIES, type TemplateCategory } from './templates.types.js';

/** The announced category of a template, and its date, if WhatsApp gave one. */
interface Announced {
  readonly category: TemplateCategory;
  readonly at: Date | null;
}

/** A notification's report about one template. */
export interface TemplateEvent {
  readonly name: string;
  /** In the spelling of WhatsApp's lists: `en_US`. */
  readonly language: string;
  /** Null where it is absent, or too large a number to be read. */
  readonly platformId: string | null;
  /** WhatsApp's time, in whole seconds; null where there is none. */
  readonly occurredAt: Date | null;
  readonly says:
    | { readonly kind: 'status'; readonly event: string; readonly reason: string | null }
    | { readonly kind: 'quality'; readonly quality: string }
    | { readonly kind: 'category'; readonly category: TemplateCategory; readonly announced: Announced | null }
    | { readonly kind: 'components' };
}

export interface Decision {
  /** Null: nothing changes. */
  readonly change: RowChange | null;
  /** WhatsApp must be queried for the present state. */
  readonly stale: boolean;
}

/** The fields of a row that events may concern. */
export type TemplateRow = Omit<TemplateEntity, 'organizationId' | 'wabaId' | 'touchedAt'>;

const NOTHING: Decision = { change: null, stale: false };
const ASK: Decision = { change: null, stale: true };

/** Warnings, and events without a state: WhatsApp's list has the state. */
const STATELESS_EVENTS: ReadonlySet<string> = new Set(['FLAGGED', 'UNARCHIVED']);

/** Two clocks are compared, one with whole seconds: reports closer together have no known order. */
const DOUBT_MS = 60_000;

/** Reads a notification of one of the four template fields; null for any other, or without a template. */
export function readTemplateEvent({ field, value, occurredAt }: ManagementNotification): TemplateEvent | null {
  const says = readWord(field, value);
  const name = ownText(value, 'message_template_name');
  const language = ownText(value, 'message_template_language');
  if (says === null || name === null || language === null) return null;
  const platformId = ownId(value, 'message_template_id');
  return { name, language: language.replaceAll('-', '_'), platformId, occurredAt, says };
}

function readWord(field: string, value: Record<string, unknown>): TemplateEvent['says'] | null {
  switch (field) {
    case 'message_template_status_update': {
      const event = ownText(value, 'event')?.toUpperCase();
      return event === undefined ? null : { kind: 'status', event, reason: reasonOf(ownText(value, 'reason')) };
    }
    case 'message_template_quality_update': {
      const quality = ownText(value, 'new_quality_score')?.toUpperCase();
      return quality === undefined ? null : { kind: 'quality', quality };
    }
    case 'template_category_update': {
      // In an announcement, `new_category` is the present category.
      const category = categoryOf(value, 'new_category');
      const next = categoryOf(value, 'correct_category');
      const announced = next === null ? null : { category: next, at: ownTime(value, 'category_update_timestamp') };
      return category === null ? null : { kind: 'category', category, announced };
    }
    case 'message_template_components_update':
      return { kind: 'components' };
    default:
      return null;
  }
}

function categoryOf(value: Record<string, unknown>, key: string): TemplateCategory | null {
  const category = ownText(value, key)?.toUpperCase();
  return TEMPLATE_CATEGORIES.find((candidate) => candidate === category) ?? null;
}

/**
 * Decides what a notification changes. They come late, twice and in any order, so WhatsApp's own time decides. If two
 * reports about a template are too close to be ordered, the one that arrived last is applied for now and WhatsApp is
 * queried.
 *
 * @param row the template of that name and language, deleted or not
 * @param syncedAt when WhatsApp's list was last applied
 */
export function decide(event: TemplateEvent, row: TemplateRow | null, syncedAt: Date | null): Decision {
  const { says, platformId } = event;
  const deletion = says.kind === 'status' && says.event === 'DELETED';
  const other = row !== null && platformId !== null && platformId !== row.platformId;
  if (row === null || row.deletedAt !== null) {
    const leftover = row !== null && !other;
    return deletion || leftover ? NOTHING : ASK;
  }
  if (other) return ASK;
  // Nothing follows a deletion, however late it is reported.
  if (deletion && platformId !== null) return { change: { deleted: true }, stale: false };
  switch (says.kind) {
    case 'components':
      // It contains texts without their variables' examples, so the whole list is needed.
      return ASK;
    case 'status': {
      if (STATELESS_EVENTS.has(says.event)) return ASK;
      const [status, platformStatus] = [statusOf(says.event), says.event === 'REINSTATED' ? 'APPROVED' : says.event];
      const same = !deletion && row.platformStatus === platformStatus;
      return ordered(event, row.statusAt, syncedAt, same, (statusAt) =>
        deletion
          ? { deleted: true, statusAt }
          : { status, platformStatus, rejectedReason: status === 'approved' ? null : says.reason, statusAt },
      );
    }
    case 'quality':
      return ordered(event, row.qualityAt, syncedAt, row.quality === says.quality, (qualityAt) => ({
        quality: says.quality,
        qualityAt,
      }));
    case 'category':
      return says.announced === null
        ? ordered(event, row.categoryAt, syncedAt, row.category === says.category, (categoryAt) => ({
            category: says.category,
            categoryAt,
            ...NOT_ANNOUNCED,
          }))
        : announce(event, says.category, says.announced, row);
  }
}

const NOT_ANNOUNCED = { announcedCategory: null, announcedFor: null };

/**
 * An announcement changes no category, and lists do not contain it: it stays until the category is the announced one,
 * or a later report about it arrives.
 */
function announce(
  { occurredAt }: TemplateEvent,
  present: TemplateCategory,
  { category, at }: Announced,
  row: TemplateRow,
): Decision {
  const isOver = row.category === category || (occurredAt !== null && occurredAt < (row.categoryAt ?? occurredAt));
  const isKnown = row.announcedCategory === category && row.announcedFor?.getTime() === at?.getTime();
  if (isOver || isKnown) return NOTHING;
  const change = { announcedCategory: category, announcedFor: at };
  const stale = row.category !== present;
  return { change: occurredAt === null ? change : { ...change, categoryAt: occurredAt }, stale };
}

function ordered(
  { occurredAt }: TemplateEvent,
  fieldAt: Date | null,
  syncedAt: Date | null,
  same: boolean,
  change: (at: Date) => RowChange,
): Decision {
  if (occurredAt === null) return same ? NOTHING : { change: change(databaseClock.date()), stale: true };
  const known = Math.max(fieldAt?.getTime() ?? -Infinity, wholeSeconds(syncedAt));
  const ahead = occurredAt.getTime() - known;
  if (ahead < 0) return !same && ahead > -DOUBT_MS ? ASK : NOTHING;
  if (same && ahead === 0) return NOTHING;
  return { change: change(occurredAt), stale: !same && ahead === 0 };
}

function wholeSeconds(time: Date | null): number {
  return time === null ? -Infinity : Math.floor(time.getTime() / 1_000) * 1_000;
}
