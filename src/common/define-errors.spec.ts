import { declaredErrors, defineErrors, error } from './define-errors.js';

describe('defineErrors', () => {
  it('makes typed factories that keep public and internal text apart', () => {
    const errors = defineErrors('spec', {
      SPEC_ONE: error<{ status: string }>({
        kind: 'conflict',
        alsoKinds: ['unprocessable'],
        message: ({ status }) => `It is ${status}.`,
        when: 'w',
        fix: 'f',
        extra: ({ status }) => ({ status }),
      }),
      SPEC_TWO: error({ kind: 'not_found', message: 'Gone.', when: 'w', fix: 'f' }),
    });
    const one = errors.SPEC_ONE({ status: 'sent' }, { internal: 'secret', cause: new Error('driver') });
    expect([one.status, one.code, one.message, one.extra, one.internal]).toEqual([
      409,
      'SPEC_ONE',
      'It is sent.',
      { status: 'sent' },
      'secret',
    ]);
    expect(one.withKind('unprocessable').status).toBe(422);
    expect(errors.SPEC_TWO().status).toBe(404);
    expect(declaredErrors().map((declared) => declared.code)).toEqual(expect.arrayContaining(['SPEC_ONE', 'SPEC_TWO']));
  });

  it('refuses a code that is declared twice', () => {
    defineErrors('spec', { SPEC_THREE: error({ kind: 'not_found', message: 'x', when: 'w', fix: 'f' }) });
    expect(() =>
      defineErrors('other', { SPEC_THREE: error({ kind: 'not_found', message: 'x', when: 'w', fix: 'f' }) }),
    ).toThrow('SPEC_THREE');
  });
});
