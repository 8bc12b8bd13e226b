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

  it('documents a code with the message and the fields of its sample', () => {
    const definition = {
      kind: 'conflict',
      message: ({ status }: { status: string }) => `It is ${status}.`,
      when: 'w',
      fix: 'Wait.',
      extra: ({ status }: { status: string }) => ({ status }),
    } as const;
    defineErrors('spec', {
      SPEC_FOUR: error({ ...definition, sample: { status: 'sent' } }),
      SPEC_FIVE: error(definition),
    });
    const documented = declaredErrors().filter(({ code }) => code.startsWith('SPEC_F'));
    expect(documented.map(({ code, message, extra }) => [code, message, extra])).toEqual([
      ['SPEC_FIVE', 'Wait.', null],
      ['SPEC_FOUR', 'It is sent.', { status: 'sent' }],
    ]);
  });

  it('refuses a code that is declared twice', () => {
    defineErrors('spec', { SPEC_THREE: error({ kind: 'not_found', message: 'x', when: 'w', fix: 'f' }) });
    expect(() =>
      defineErrors('other', { SPEC_THREE: error({ kind: 'not_found', message: 'x', when: 'w', fix: 'f' }) }),
    ).toThrow('SPEC_THREE');
  });
});
