import { readPhoneNumber } from '../../infrastructure/whatsapp/cloud-api-client.js';
import { factsOf, readAccountEvents } from './platform-facts.js';

const number = (fields: Record<string, unknown>) => {
  const read = readPhoneNumber({ id: '106540352242922', ...fields });
  if (read === null) throw new Error('no number');
  return factsOf(read, null);
};

describe('factsOf', () => {
  it.each([
    ['CONNECTED', 'connected'],
    ['FLAGGED', 'connected'],
    ['PENDING', 'pending'],
    ['RESTRICTED', 'restricted'],
    ['RATE_LIMITED', 'restricted'],
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
      marketingStatus: null,
    });
  });

  it('has one word for an unknown quality', () => {
    expect(number({ quality_rating: 'NA' }).qualityRating).toBe('UNKNOWN');
  });
});

describe('throughputPerSecond', () => {
  it.each([
    ['STANDARD', 80],
    ['HIGH', 1_000],
    ['NOT_APPLICABLE', null],
    ['toString', null],
    [undefined, null],
  ])('of %s is %s messages a second', (level, expected) => {
    expect(number({ throughput: { level } }).throughputPerSecond).toBe(expected);
  });

  it.each([
    [true, 'CLOUD_API', 20],
    [true, undefined, 20],
    [true, 'NOT_APPLICABLE', 1_000],
    [false, 'CLOUD_API', 1_000],
    ['true', 'CLOUD_API', 1_000],
  ])('where the number is in the app too (%j) on %s is %s', (is_on_biz_app, platform_type, expected) => {
    const fields = { is_on_biz_app, platform_type, throughput: { level: 'HIGH' } };
    expect(number(fields).throughputPerSecond).toBe(expected);
  });
});

const said = (field: string, value: Record<string, unknown>) =>
  readAccountEvents({ field, value, wabaId: '1', phoneNumberId: null, occurredAt: null });

describe('what a notification says of the numbers of an account', () => {
  it('a limit of one number', () => {
    const value = { display_phone_number: '+1 555-010 0001', event: 'ONBOARDING', current_limit: 'TIER_10K' };
    expect(said('phone_number_quality_update', value)).toEqual({
      wabaId: '1',
      number: '15550100001',
      messagingLimit: 'TIER_10K',
      restriction: null,
      restrictedUntil: null,
      removed: false,
      occurredAt: null,
    });
  });

  it('the newer field of the limit, and a limit of the whole business', () => {
    const value = { max_daily_conversations_per_business: 'TIER_UNLIMITED' };
    expect(said('phone_number_quality_update', value)?.messagingLimit).toBe('TIER_UNLIMITED');
    expect(said('business_capability_update', value)).toMatchObject({ number: null, messagingLimit: 'TIER_UNLIMITED' });
  });

  it.each([
    [2_000, 'TIER_2K'],
    ['10000', 'TIER_10K'],
    [-1, 'TIER_UNLIMITED'],
    ['-1', 'TIER_UNLIMITED'],
    ['TIER_100K', 'TIER_100K'],
    [3, null],
    ['TIER_NOT_SET', null],
    [undefined, null],
    ["TIER_'; drop table connection", null],
  ])('a limit of %j people is %j', (limit, expected) => {
    for (const key of ['max_daily_conversations_per_business', 'max_daily_conversation_per_phone']) {
      expect(said('business_capability_update', { [key]: limit })?.messagingLimit).toBe(expected);
    }
  });

  it('of a higher throughput no limit', () => {
    const limits = { current_limit: 'TIER_UNLIMITED', max_daily_conversations_per_business: 'TIER_UNLIMITED' };
    const value = { display_phone_number: '15550100001', event: 'THROUGHPUT_UPGRADE', ...limits };
    expect(said('phone_number_quality_update', value)).toMatchObject({ number: '15550100001', messagingLimit: null });
  });

  it('the account that is named, which the entry of a portfolio is not', () => {
    const value = { event: 'PARTNER_REMOVED', waba_info: { waba_id: '7', owner_business_id: '1' } };
    expect(said('account_update', value)).toMatchObject({ wabaId: '7', removed: true });
    expect(said('account_update', { event: 'ACCOUNT_OFFBOARDED' })).toMatchObject({ wabaId: '1', removed: true });
  });

  it.each([
    ['RESTRICTED_BIZ_INITIATED_MESSAGING', 'begins'],
    ['RESTRICTED_CUSTOMER_INITIATED_MESSAGING', 'begins'],
    ['RESTRICTED_UTILITY_TEMPLATES', null],
    ['RESTRICTED_DIRECT_SEND_UTILITY_TEMPLATES', null],
    ['RESTRICTED_ADD_PHONE_NUMBER_ACTION', null],
    [undefined, 'begins'],
  ])('of the restriction %s, that one of messages %s', (restriction_type, restriction) => {
    const value = { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ restriction_type, expiration: 1_796_000_000 }] };
    expect(said('account_update', value)?.restriction).toBe(restriction);
  });

  it('a restriction with its latest end, in seconds or as a date', () => {
    const value = {
      event: 'ACCOUNT_RESTRICTION',
      restriction_info: [
        { restriction_type: 'RESTRICTED_BIZ_INITIATED_MESSAGING', expiration: 1_796_000_000 },
        { restriction_type: 'RESTRICTED_ADD_PHONE_NUMBER_ACTION', expiration: '2026-11-20T00:00:00Z' },
      ],
    };
    expect(said('account_update', value)).toMatchObject({
      restriction: 'begins',
      restrictedUntil: new Date(1_796_000_000_000),
    });
  });

  it.each([[undefined], ['soon'], [-1], [9e15], [{}]])('a restriction that ends %p has no end', (expiration) => {
    const value = { event: 'ACCOUNT_RESTRICTION', restriction_info: [{ expiration }] };
    expect(said('account_update', value)).toMatchObject({ restriction: 'begins', restrictedUntil: null });
  });

  it.each([
    ['DISABLED_UPDATE', { waba_ban_state: 'DISABLE' }, 'begins'],
    ['DISABLED_UPDATE', { waba_ban_state: 'REINSTATE' }, 'ends'],
    ['DISABLED_UPDATE', { waba_ban_state: 'SCHEDULE_FOR_DISABLE' }, null],
    ['DISABLED_UPDATE', null, null],
    ['ACCOUNT_RECONNECTED', undefined, 'ends'],
    ['ACCOUNT_VIOLATION', undefined, null],
    ['constructor', undefined, null],
  ])('%s %p: a restriction %s', (event, ban, restriction) => {
    expect(said('account_update', { event, ban_info: ban })?.restriction).toBe(restriction);
  });

  it('that something changed, where it says no more', () => {
    expect(said('phone_number_name_update', { display_phone_number: '15550100001' })?.number).toBe('15550100001');
  });

  it('nothing, where it is about something else', () => {
    expect(said('message_template_status_update', { event: 'APPROVED' })).toBeNull();
  });
});
