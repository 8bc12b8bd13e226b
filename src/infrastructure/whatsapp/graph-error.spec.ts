import * as fc from 'fast-check';
import { FAILURE_CATEGORIES } from '../../common/failure-category.js';
import { classifyPlatformError, findPlatformError } from './graph-error.js';

const actions = Array.from({ length: 140_000 }, (_, code) => classifyPlatformError(code).action);

function codesWith(action: string): number[] {
  return actions.flatMap((each, code) => (each === action ? code : []));
}

describe('the error table', () => {
  it('rests the whole number for exactly these codes', () => {
    expect(codesWith('pause_lane')).toEqual([
      0, 4, 10, 190, 200, 368, 80007, 130429, 131031, 131042, 131045, 131048, 133010,
    ]);
  });

  it('rests one recipient for 131056 alone', () => {
    expect(codesWith('defer_recipient')).toEqual([131056]);
  });

  it('tries later for exactly these codes', () => {
    expect(codesWith('defer')).toEqual([131057, 133004, 134101]);
  });

  it('leaves the outcome open for exactly these codes', () => {
    expect(codesWith('unknown')).toEqual([1, 2, 131000, 131016]);
  });

  it.each([
    [201, 'authentication'],
    [299, 'authentication'],
    [300, 'unknown'],
    [100, 'invalid_content'],
    [131026, 'recipient_unreachable'],
    [131047, 'service_window_closed'],
    [131049, 'recipient_limit'],
    [131053, 'media_error'],
    [132000, 'invalid_content'],
    [132001, 'template_unavailable'],
    [132099, 'template_unavailable'],
    [133009, 'sender_not_ready'],
    [131021, 'invalid_recipient'],
    [131031, 'account_restricted'],
    [131037, 'sender_not_ready'],
    [613, 'rate_limited'],
    [131042, 'account_restricted'],
    [131048, 'account_restricted'],
    [131050, 'opted_out'],
    [131061, 'template_unavailable'],
    [131063, 'account_restricted'],
    [131065, 'invalid_content'],
    [131070, 'not_conversation_owner'],
    [134101, 'template_unavailable'],
    [134102, 'template_unavailable'],
    [424242, 'unknown'],
  ])('files %i under %s', (code, category) => {
    expect(classifyPlatformError(code).category).toBe(category);
  });

  it('lets a subcode say more, and ignores one that says nothing', () => {
    expect(classifyPlatformError(100, 33).category).toBe('sender_not_ready');
    expect(classifyPlatformError(100, 2388024)).toEqual(classifyPlatformError(100));
    expect(classifyPlatformError(190, 463).action).toBe('pause_lane');
  });

  it('distinguishes listed codes from unlisted ones', () => {
    expect(findPlatformError(131026)).not.toBeNull();
    expect(findPlatformError(999_999)).toBeNull();
    expect(findPlatformError(-1)).toBeNull();
  });

  it('has an answer for any number', () => {
    fc.assert(
      fc.property(fc.double(), fc.option(fc.integer()), (code, subcode) => {
        expect(FAILURE_CATEGORIES).toContain(classifyPlatformError(code, subcode).category);
      }),
    );
  });
});
