import { readPhoneNumber } from '../../infrastructure/whatsapp/phone-number.js';
import { factsOf, throughputOf } from './platform-facts.js';

const number = (fields: Record<string, unknown>) => {
  const read = readPhoneNumber({ id: '106540352242922', ...fields });
  if (read === null) throw new Error('no number');
  return factsOf(read);
};

describe('factsOf', () => {
  it.each([
    ['CONNECTED', 'connected'],
    ['FLAGGED', 'connected'],
    ['PENDING', 'pending'],
    ['RESTRICTED', 'restricted'],
    ['BANNED', 'disconnected'],
    ['DELETED', 'disconnected'],
    ['SOMETHING_NEW', null],
    ['constructor', null],
    [undefined, null],
  ])('reads the state %s as %s', (status, expected) => {
    expect(number({ status }).status).toBe(expected);
  });

  it('keeps what the platform left out as unknown', () => {
    expect(number({})).toEqual({
      verifiedName: null,
      qualityRating: null,
      messagingLimit: null,
      throughputPerSecond: null,
      status: null,
    });
  });

  it('has one word for an unknown quality', () => {
    expect(number({ quality_rating: 'NA' }).qualityRating).toBe('UNKNOWN');
  });
});

describe('throughputOf', () => {
  it.each([
    ['STANDARD', 80],
    ['HIGH', 1_000],
    ['NOT_APPLICABLE', null],
    ['toString', null],
    [null, null],
  ])('%s is %s messages a second', (level, expected) => {
    expect(throughputOf(level)).toBe(expected);
  });
});
