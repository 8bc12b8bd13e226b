import { isNextTimeline, type PrimaryFacts, type Promotion, reasonAgainst, reasonToAsk } from './failover-proof.js';

const OLD = '7001/00000001/5';
const NEW = '7001/00000002/5';
const standby = { name: 'b', state: 'sync', address: '10.0.0.2' } as const;
const replica = { name: 'c', state: 'async', address: '10.0.0.3' } as const;

function facts(changed: Partial<PrimaryFacts> = {}): PrimaryFacts {
  return { n: 7, identity: OLD, commit: 'on', names: 'b', standbys: [standby], ...changed };
}

function promotion(changed: Partial<Promotion> = {}): Promotion {
  return { confirmed: OLD, found: NEW, address: '10.0.0.2', last: [facts()], known: 7, here: 7, ...changed };
}

describe('a standby has every commit', () => {
  const two = [standby, { ...standby, name: 'pg-c' }];
  const quorum = [{ ...standby, state: 'quorum' } as const];

  it.each<[string, Partial<PrimaryFacts>]>([
    ['by its name', {}],
    ['in any case of letters', { names: ' B ' }],
    ['in parentheses', { names: '1 (b)' }],
    ['as the first of one', { names: 'FIRST 1 (b)' }],
    ['as any of one', { names: 'ANY 1 (b)', standbys: quorum }],
    ['as both of two', { names: 'FIRST 2 (b, "pg-c")', standbys: two }],
    ['beside a replica', { standbys: [standby, replica] }],
  ])('%s', (_, changed) => expect(reasonAgainst(facts(changed))).toBeNull());

  it.each<[string, Partial<PrimaryFacts>, RegExp]>([
    ['without names', { names: '', standbys: [replica] }, /is empty/],
    ['where the session does not wait', { commit: 'local' }, /synchronous_commit is local/],
    ['where it has them in its memory only', { commit: 'remote_write' }, /synchronous_commit is remote_write/],
    ['where the session waits for nothing', { commit: 'off' }, /synchronous_commit is off/],
    ['as any standby', { names: '*' }, /without \*/],
    ['as any standby, quoted', { names: '"*"' }, /without \*/],
    [
      'as the first of two',
      { names: 'b, c', standbys: [standby, { ...replica, state: 'potential' }] },
      /every standby/,
    ],
    ['as any of two', { names: 'ANY 1 (b, c)', standbys: quorum }, /every standby/],
    ['named twice', { names: '2 (b, b)', standbys: [standby, standby] }, /every standby/],
    ['in words that are not known', { names: 'ANY one (b)' }, /every standby/],
    ['while it is away', { standbys: [] }, /not every/],
    ['while another one of the two is away', { names: '2 (b, c)' }, /not every/],
    ['while two have its name', { standbys: [standby, standby] }, /not every/],
    ['while it catches up', { standbys: [{ ...standby, state: 'async' }] }, /not every/],
    ['where the role may not see it', { standbys: [{ name: null, state: null, address: null }] }, /pg_read_all_stats/],
  ])('not %s', (_, changed, reason) => expect(reasonAgainst(facts(changed))).toMatch(reason));
});

it.each([
  [NEW, true],
  ['7001/00000003/5', false],
  ['7001/00000001/5', false],
  ['7002/00000002/5', false],
  ['7001/00000002/6', false],
  ['7001/-/5', false],
])('%s is the next timeline: %s', (found, isNext) => expect(isNextTimeline(OLD, found)).toBe(isNext));

it('counts timelines in hexadecimal, and knows none of a cluster without a name', () => {
  expect(isNextTimeline('7001/0000000F/5', '7001/00000010/5')).toBe(true);
  expect(isNextTimeline('-/00000001/5', '-/00000002/5')).toBe(false);
});

it('goes on where the new primary has all that was known, and more', () => {
  expect(reasonToAsk(promotion())).toBeNull();
  expect(reasonToAsk(promotion({ here: 9 }))).toBeNull();
  expect(reasonToAsk(promotion({ address: null }))).toBeNull();
});

it.each<[string, Partial<Promotion>, RegExp]>([
  ['another cluster', { found: '7002/00000002/5' }, /next timeline/],
  ['a commit that it lacks', { here: 6 }, /lacks commits/],
  ['no row of this worker', { here: null }, /lacks commits/],
  ['one worker of several that did not wait', { last: [facts(), facts({ commit: 'off' })] }, /synchronous_commit/],
])('asks: %s', (_, changed, reason) => expect(reasonToAsk(promotion(changed))).toMatch(reason));

describe('beside other servers that streamed', () => {
  const last = [facts({ standbys: [standby, replica] })];

  it('goes on on the address of the synchronous one alone', () => {
    expect(reasonToAsk(promotion({ last }))).toBeNull();
    expect(reasonToAsk(promotion({ last, address: '10.0.0.3' }))).toMatch(/10\.0\.0\.3/);
    expect(reasonToAsk(promotion({ last, address: null }))).toMatch(/unknown/);
    const same = [facts({ standbys: [standby, { ...replica, address: standby.address }] })];
    expect(reasonToAsk(promotion({ last: same }))).toMatch(/alone/);
  });
});
