import { judgeCodes, type CodeEvidence, type JudgedCode } from './judge-codes.js';

const code = (id: string, status: string, change: Partial<JudgedCode> = {}): JudgedCode => ({
  id,
  recipient: `49${id}`,
  status,
  attemptId: `attempt ${id}`,
  givenBack: status === 'failed',
  ...change,
});
const taken = (id: string) => ({ callback: `attempt ${id}`, to: `+49${id}` });

const GOOD: CodeEvidence = {
  acknowledged: ['1', '2', '3', '4'],
  codes: [code('1', 'read'), code('2', 'failed'), code('3', 'outcome_unknown'), code('4', 'failed')],
  taken: [taken('1'), taken('4')],
  counts: { reserved: 1, used: 1 },
  failsLater: (recipient) => recipient === '494',
};

describe('the verdict about codes', () => {
  it('finds nothing where all is as promised', () => {
    expect(judgeCodes(GOOD)).toMatchObject({ lost: 0, duplicated: 0, unknown: 1, givenBack: 2, violations: [] });
  });

  it.each<[string, Partial<CodeEvidence>, RegExp]>([
    ['one that is gone', { acknowledged: ['1', '9'] }, /9 was acknowledged and is not there/],
    ['one that was sent twice', { taken: [taken('1'), taken('1'), taken('4')] }, /1 was taken 2 times/],
    ['one that never went out', { taken: [taken('4')] }, /1 is read and the platform never saw it/],
    [
      'one that was sent under an unknown attempt',
      { taken: [taken('1'), taken('4'), { callback: 'other', to: '+499' }] },
      /took the attempt other/,
    ],
    [
      'a failure that was sent',
      { taken: [taken('1'), taken('2'), taken('4')] },
      /2 is failed, but the platform took it/,
    ],
    [
      'an unknown outcome that was resolved',
      { taken: [taken('1'), taken('3'), taken('4')] },
      /3 is outcome_unknown although/,
    ],
    ['one that has no end', { codes: [...GOOD.codes, code('5', 'sending')] }, /5 is still sending/],
    ['a send that is given back twice', { counts: { reserved: 0, used: 1 } }, /the package counts 1 sends of 2/],
    [
      'a failure that counts',
      { codes: [code('1', 'read'), code('2', 'failed', { givenBack: false }), ...GOOD.codes.slice(2)] },
      /2 is failed and was not given back/,
    ],
  ])('finds %s', (_name, change, violation) => {
    expect(judgeCodes({ ...GOOD, ...change }).violations.join('\n')).toMatch(violation);
  });
});
