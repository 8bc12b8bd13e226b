import fc from 'fast-check';
import type { RowChange } from './entities/template.entity.js';
import { decide, readTemplateEvent, type TemplateEvent, type TemplateRow } from './template-events.js';

const at = (seconds: number): Date => new Date(1_800_000_000_000 + seconds * 1_000);

const ROW: TemplateRow = {
  id: '01936f70-11aa-7b2c-9c3d-4e5f60718293',
  platformId: '42',
  name: 'order_update',
  language: 'en_US',
  status: 'approved',
  platformStatus: 'APPROVED',
  category: 'UTILITY',
  parameterFormat: 'POSITIONAL',
  quality: 'GREEN',
  rejectedReason: null,
  messageSendTtlSeconds: null,
  components: [],
  createdAt: at(0),
  updatedAt: at(0),
  statusAt: null,
  qualityAt: null,
  categoryAt: null,
  announcedCategory: null,
  announcedFor: null,
  deletedAt: null,
};

function statusEvent(
  event: string,
  occurredAt: Date | null = at(100),
  values: Partial<TemplateEvent> = {},
): TemplateEvent {
  const says = { kind: 'status', event, reason: event === 'REJECTED' ? 'SCAM' : null } as const;
  return { name: 'order_update', language: 'en_US', platformId: '42', occurredAt, says, ...values };
}

const NOTHING = { change: null, stale: false };
const ASK = { change: null, stale: true };

describe('a reported status of a template', () => {
  it.each([
    ['PENDING', 'pending', 'PENDING'],
    ['REJECTED', 'rejected', 'REJECTED'],
    ['PAUSED', 'paused', 'PAUSED'],
    ['DISABLED', 'disabled', 'DISABLED'],
    ['IN_APPEAL', 'in_appeal', 'IN_APPEAL'],
    ['PENDING_DELETION', 'pending_deletion', 'PENDING_DELETION'],
    ['REINSTATED', 'approved', 'APPROVED'],
    ['LOCKED', 'disabled', 'LOCKED'],
    ['ARCHIVED', 'disabled', 'ARCHIVED'],
    ['SOMETHING_NEW', 'disabled', 'SOMETHING_NEW'],
  ])('%s makes it %s', (event, status, platformStatus) => {
    expect(decide(statusEvent(event), { ...ROW, status: 'in_appeal' }, at(0)).change).toEqual({
      status,
      platformStatus,
      rejectedReason: event === 'REJECTED' ? 'SCAM' : null,
      statusAt: at(100),
    });
  });

  it('DELETED deletes it, however late it is reported; without an id it must be the latest report', () => {
    const row = { ...ROW, statusAt: at(200) };
    expect(decide(statusEvent('DELETED'), row, at(300))).toEqual({ change: { deleted: true }, stale: false });
    const anonymous = { platformId: null };
    expect(decide(statusEvent('DELETED', at(100), anonymous), row, null)).toEqual(NOTHING);
    expect(decide(statusEvent('DELETED', at(201), anonymous), row, null).change).toMatchObject({ deleted: true });
  });

  it.each(['FLAGGED', 'UNARCHIVED'])('%s names no state: the platform is asked', (event) => {
    expect(decide(statusEvent(event), ROW, null)).toEqual(ASK);
  });

  it('of a template that is not known makes the platform be asked, unless it is gone anyway', () => {
    expect(decide(statusEvent('APPROVED'), null, at(0))).toEqual(ASK);
    expect(decide(statusEvent('DELETED'), null, at(0))).toEqual(NOTHING);
  });

  it('of a deleted template is nothing, unless another one has the name now', () => {
    const deleted = { ...ROW, deletedAt: at(50) };
    expect(decide(statusEvent('APPROVED'), deleted, at(0))).toEqual(NOTHING);
    expect(decide(statusEvent('APPROVED', at(100), { platformId: null }), deleted, at(0))).toEqual(NOTHING);
    expect(decide(statusEvent('APPROVED', at(100), { platformId: '43' }), deleted, at(0))).toEqual(ASK);
  });

  it('of another template of that name makes the platform be asked', () => {
    expect(decide(statusEvent('DELETED', at(100), { platformId: '43' }), ROW, at(0))).toEqual(ASK);
  });

  it('that is older than the last word is nothing, and close to it a question', () => {
    const row = { ...ROW, statusAt: at(200) };
    expect(decide(statusEvent('PAUSED', at(100)), row, null)).toEqual(NOTHING);
    expect(decide(statusEvent('PAUSED', at(199)), row, null)).toEqual(ASK);
    expect(decide(statusEvent('APPROVED', at(199)), row, null)).toEqual(NOTHING);
    expect(decide(statusEvent('PAUSED', at(200)), row, null)).toMatchObject({
      change: { status: 'paused' },
      stale: true,
    });
    expect(decide(statusEvent('APPROVED', at(200)), row, null)).toEqual(NOTHING);
  });

  it('that is older than the last list is nothing; the list counts by whole seconds, as the platform does', () => {
    expect(decide(statusEvent('PAUSED', at(100)), ROW, at(200))).toEqual(NOTHING);
    expect(decide(statusEvent('PAUSED', at(200)), ROW, new Date(at(200).getTime() + 900))).toMatchObject({
      change: { status: 'paused' },
      stale: true,
    });
  });

  it('without a time is believed and looked at', () => {
    expect(decide(statusEvent('PAUSED', null), ROW, at(0))).toMatchObject({
      change: { status: 'paused' },
      stale: true,
    });
    expect(decide(statusEvent('APPROVED', null), ROW, at(0))).toEqual(NOTHING);
  });
});

describe('an announced category', () => {
  const says = (category: 'UTILITY' | 'MARKETING', announced: 'MARKETING' | null, second: number): TemplateEvent => ({
    name: 'order_update',
    language: 'en_US',
    platformId: '42',
    occurredAt: at(second),
    says: { kind: 'category', category, announced: announced === null ? null : { category: announced, at: at(900) } },
  });
  const ANNOUNCED = says('UTILITY', 'MARKETING', 100);
  const DONE = says('MARKETING', null, 900);

  it('is shown until the category is that one', () => {
    const { change, stale } = decide(ANNOUNCED, ROW, at(50));
    expect([change, stale]).toEqual([
      { announcedCategory: 'MARKETING', announcedFor: at(900), categoryAt: at(100) },
      false,
    ]);
    expect(decide(DONE, { ...ROW, ...change }, at(50)).change).toEqual({
      category: 'MARKETING',
      categoryAt: at(900),
      announcedCategory: null,
      announcedFor: null,
    });
  });

  it('counts after a list that is newer, for no list has it', () => {
    expect(decide(ANNOUNCED, ROW, at(500)).change).toMatchObject({ announcedCategory: 'MARKETING' });
  });

  it.each([
    ['the category is that one', { category: 'MARKETING' } as const],
    ['it is known', { announcedCategory: 'MARKETING', announcedFor: at(900) } as const],
    ['a later word came', { categoryAt: at(200) }],
  ])('is nothing where %s', (_why, row) => {
    expect(decide(ANNOUNCED, { ...ROW, ...row }, null)).toEqual(NOTHING);
  });

  it('makes the platform be asked where the present category is another one', () => {
    expect(decide(ANNOUNCED, { ...ROW, category: 'AUTHENTICATION' }, null)).toMatchObject({ stale: true });
  });

  it.each([
    ['in order', [ANNOUNCED, DONE]],
    ['twice', [ANNOUNCED, ANNOUNCED, DONE, DONE, ANNOUNCED]],
    ['the wrong way round', [DONE, ANNOUNCED]],
  ])('and the change come to the same %s', (_how, events) => {
    const row = events.reduce((now, event) => ({ ...now, ...decide(event, now, null).change }), ROW);
    expect(row).toMatchObject({ category: 'MARKETING', announcedCategory: null, announcedFor: null });
  });
});

describe('several words on one template', () => {
  const EVENTS = ['APPROVED', 'PAUSED', 'DISABLED', 'REJECTED', 'PENDING', 'DELETED', 'REINSTATED', 'LOCKED'];

  it('come to the same in every order, twice or once, or leave a question', () => {
    const word = fc.record({ event: fc.constantFrom(...EVENTS), second: fc.integer({ min: 1, max: 200 }) });
    fc.assert(
      fc.property(
        fc
          .array(word, { minLength: 1, maxLength: 6 })
          .chain((words) =>
            fc.tuple(fc.constant(words), fc.shuffledSubarray([...words, ...words], { minLength: words.length * 2 })),
          ),
        ([words, shuffled]) => {
          const inOrder = [...words].sort((a, b) => a.second - b.second);
          const [first, second] = [outcomeOf(inOrder), outcomeOf(shuffled)];
          if (!first.asked && !second.asked) expect(second.row).toEqual(first.row);
        },
      ),
    );
  });

  function outcomeOf(words: readonly { event: string; second: number }[]): {
    row: Partial<TemplateRow>;
    asked: boolean;
  } {
    let row = { ...ROW };
    let asked = false;
    for (const { event, second } of words) {
      const { change, stale } = decide(statusEvent(event, at(second)), row, null);
      asked ||= stale;
      if (change !== null) row = applied(row, change);
    }
    const { status, platformStatus, deletedAt } = row;
    return { row: deletedAt === null ? { status, platformStatus } : { deletedAt }, asked };
  }

  function applied(row: TemplateRow, { deleted, ...fields }: RowChange): TemplateRow {
    return { ...row, ...fields, deletedAt: deleted === true ? at(0) : null };
  }
});

describe('reading a notification', () => {
  const VALUE = {
    message_template_id: 1_689_556_908_129_835,
    message_template_name: 'order_update',
    message_template_language: 'pt-BR',
  };
  const read = (field: string, value: object) =>
    readTemplateEvent({
      field,
      value: value as Record<string, unknown>,
      occurredAt: at(1),
      wabaId: '1',
      phoneNumberId: null,
    });

  it('takes ids that are numbers, and languages with a hyphen', () => {
    expect(read('message_template_status_update', { ...VALUE, event: 'approved', reason: 'NONE' })).toEqual({
      name: 'order_update',
      language: 'pt_BR',
      platformId: '1689556908129835',
      occurredAt: at(1),
      says: { kind: 'status', event: 'APPROVED', reason: null },
    });
  });

  it('reads a number that lost its last digits as no id at all', () => {
    const value = { ...VALUE, message_template_id: Number('16895569081298357123'), event: 'APPROVED' };
    expect(read('message_template_status_update', value)?.platformId).toBeNull();
  });

  it('reads quality, category and components', () => {
    expect(read('message_template_quality_update', { ...VALUE, new_quality_score: 'RED' })?.says).toEqual({
      kind: 'quality',
      quality: 'RED',
    });
    expect(read('template_category_update', { ...VALUE, new_category: 'MARKETING' })?.says).toEqual({
      kind: 'category',
      category: 'MARKETING',
      announced: null,
    });
    const announced = { new_category: 'UTILITY', correct_category: 'MARKETING' };
    expect(read('template_category_update', { ...VALUE, ...announced })?.says).toEqual({
      kind: 'category',
      category: 'UTILITY',
      announced: { category: 'MARKETING', at: null },
    });
    for (const category_update_timestamp of [1_800_000_200, '1800000200']) {
      expect(
        read('template_category_update', { ...VALUE, ...announced, category_update_timestamp })?.says,
      ).toMatchObject({
        announced: { category: 'MARKETING', at: at(200) },
      });
    }
    expect(read('message_template_components_update', VALUE)?.says).toEqual({ kind: 'components' });
  });

  it.each([
    ['account_update', { ...VALUE, event: 'APPROVED' }],
    ['message_template_status_update', VALUE],
    ['message_template_status_update', { event: 'APPROVED' }],
    ['template_category_update', { ...VALUE, new_category: 'WHATEVER' }],
    ['template_category_update', VALUE],
    ['message_template_quality_update', VALUE],
  ])('reads no event in %s %j', (field, value) => {
    expect(read(field, value)).toBeNull();
  });
});
