import fc from 'fast-check';
import { afterKnown, laterHandover, ownerOf, type Handover, type OwnerFacts } from './owner.types.js';

const NOTHING: OwnerFacts = {
  lastInboundAt: null,
  standbyAt: null,
  handoverAt: null,
  handoverTo: null,
  handoverRole: null,
};

type Said =
  { what: 'message'; at: number } | { what: 'standby'; at: number } | { what: 'handover'; at: number; to: Handover };

const later = (a: Date | null, at: number): Date => new Date(Math.max(a?.getTime() ?? 0, at));

function factsOf(said: readonly Said[]): OwnerFacts {
  const facts = { ...NOTHING };
  for (const each of said) {
    if (each.what === 'message') facts.lastInboundAt = later(facts.lastInboundAt, each.at);
    else if (each.what === 'standby') facts.standbyAt = later(facts.standbyAt, each.at);
    else Object.assign(facts, laterHandover(facts, each.to));
  }
  return facts;
}

const handover = (at: number, owner: Handover['owner'], role: string | null = null): Said => ({
  what: 'handover',
  at,
  to: { at: new Date(at), owner, role, note: null, context: null },
});

it.each<[string, Said[], ReturnType<typeof ownerOf>]>([
  ['nothing', [], { owner: 'unknown', role: null }],
  ['a message', [{ what: 'message', at: 1 }], { owner: 'you', role: null }],
  ['a message to another', [{ what: 'standby', at: 1 }], { owner: 'other', role: null }],
  [
    'a handover and a message of one second',
    [handover(1, 'other', 'ctwa'), { what: 'message', at: 1 }],
    { owner: 'other', role: 'ctwa' },
  ],
  [
    'both kinds of message in one second',
    [
      { what: 'message', at: 1 },
      { what: 'standby', at: 1 },
    ],
    { owner: 'other', role: null },
  ],
  [
    'another that goes on',
    [handover(1, 'other', 'ctwa'), { what: 'standby', at: 2 }],
    { owner: 'other', role: 'ctwa' },
  ],
  [
    'another than the one of before',
    [handover(1, 'other', 'ctwa'), { what: 'message', at: 2 }, { what: 'standby', at: 3 }],
    { owner: 'other', role: null },
  ],
  ['a release', [handover(1, 'you'), handover(2, 'unknown')], { owner: 'unknown', role: null }],
])('%s', (_, said, expected) => {
  expect(ownerOf(factsOf(said))).toEqual(expected);
});

it('the order and the number of reports mean nothing', () => {
  const at = fc.integer({ min: 1, max: 5 });
  const said = fc.oneof(
    fc.record({ what: fc.constantFrom('message' as const, 'standby' as const), at }),
    fc
      .tuple(at, fc.constantFrom('you' as const, 'other' as const, 'unknown' as const), fc.constantFrom(null, 'a', 'b'))
      .map((args) => handover(...args)),
  );
  fc.assert(
    fc.property(fc.array(said, { maxLength: 8 }), fc.array(fc.nat()), (all, order) => {
      const shuffled = [...all, ...all]
        .map((each, index) => ({ each, key: order[index] ?? 0 }))
        .sort((a, b) => a.key - b.key)
        .map(({ each }) => each);
      expect(factsOf(shuffled)).toEqual(factsOf(all));
    }),
  );
});

it('our own request is later than what is known, also in the same second; its notification changes nothing', () => {
  const at = new Date(1_795_248_000_000);
  const said = { at, role: null, note: null, context: null };
  const ours = (known: OwnerFacts, owner: Handover['owner']): OwnerFacts => ({
    ...NOTHING,
    ...laterHandover(known, afterKnown(known, { ...said, owner, isOurs: true })),
  });
  const released = ours(ours(NOTHING, 'you'), 'unknown');
  expect(released.handoverTo).toBe('unknown');
  for (const owner of ['you', 'unknown', 'you'] as const) {
    expect(laterHandover(released, afterKnown(released, { ...said, owner })).handoverTo).toBe('unknown');
  }
  const next = { ...said, at: new Date(at.getTime() + 1_000), owner: 'other' as const };
  expect(laterHandover(released, next).handoverTo).toBe('other');
});
