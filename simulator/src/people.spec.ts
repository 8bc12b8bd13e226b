import { DEMO_NUMBERS } from './demo-numbers.js';
import { GraphError } from './graph-error.js';
import { resolveRecipient, waIdOf } from './people.js';
import type { SimulatorNumber } from './simulator.types.js';

const [american, german] = DEMO_NUMBERS as [SimulatorNumber, SimulatorNumber];

function codeOf(action: () => unknown): number {
  try {
    action();
  } catch (error) {
    if (error instanceof GraphError) return error.code;
    throw error;
  }
  return 0;
}

describe('a recipient', () => {
  it.each([
    ['+49 (151) 1234-5678', american, '4915112345678'],
    ['+4915112345678', german, '4915112345678'],
    // The trap: without + the sender's own country code comes first, even where it is there already.
    ['4915112345678', american, '14915112345678'],
    ['015112345678', german, '49015112345678'],
    [6505550199, american, '16505550199'],
  ])('%s is read as the platform reads it', (to, sender, digits) => {
    expect(resolveRecipient({ to }, sender)).toEqual({
      input: String(to),
      to: digits,
      waId: digits,
      reachable: true,
    });
  });

  it.each([
    ['5511999990000', '5511999990000'],
    ['5531999990000', '553199990000'],
    ['525512345678', '5215512345678'],
    ['5215512345678', '5215512345678'],
    ['4915112345678', '4915112345678'],
  ])('%s is known to WhatsApp as %s', (digits, waId) => {
    expect(waIdOf(digits)).toBe(waId);
  });

  it('may be a user id, and `to` wins over it', () => {
    expect(resolveRecipient({ recipient: 'DE.1349120865530274' }, american)).toMatchObject({
      to: 'DE.1349120865530274',
      waId: null,
    });
    expect(resolveRecipient({ to: '+4915112345678', recipient: 'DE.1349' }, american).waId).toBe('4915112345678');
  });

  it('is never reached by a user id in `to`', () => {
    expect(resolveRecipient({ to: 'DE.1349120865530274' }, american).reachable).toBe(false);
  });

  it.each([
    [{}, 100],
    [{ to: '' }, 100],
    [{ to: { phone: '+49' } }, 100],
    [{ to: 'Ana' }, 131009],
    [{ to: '+49' }, 131009],
    [{ to: '+015112345678' }, 131009],
    [{ to: '+4915112345678901234' }, 131009],
    [{ recipient: 'not-a-user-id' }, 131009],
    [{ to: '+1 650 555 0134' }, 131021],
    [{ to: 'Y2FwaV9ncm91cDox', recipient_type: 'group' }, 131041],
  ])('%j is refused with %i', (body, code) => {
    expect(codeOf(() => resolveRecipient(body, american))).toBe(code);
  });
});
