import { GraphError, invalidParam } from '../graph-error.js';
import { type Call, on, type Route, SUCCESS } from '../http/call.js';
import { absent, Shape } from '../http/fields.js';
import { callingCodeOf, countryOf, digitsOf } from '../people.js';
import type { Platform } from '../platform.js';
import type { SimulatorNumber } from '../simulator.types.js';
import { TEMPLATES } from '../templates/template-store.js';
import { accountHealth, BUSINESS, healthOf, type NumberFacts, type NumberState, SIMULATED_APP } from './numbers.js';
import { shownProfile } from './profile.routes.js';
import { automationOf } from './registration.routes.js';

type FullNumber = SimulatorNumber & { facts: Readonly<NumberFacts>; state: Readonly<NumberState> };

// prettier-ignore
const USUAL_FIELDS = [
  'verified_name', 'code_verification_status', 'display_phone_number', 'quality_rating', 'platform_type', 'throughput',
  'id',
];
const USUAL_ACCOUNT_FIELDS = ['id', 'name', 'timezone_id', 'message_template_namespace'];
const SCOPES = ['business_management', 'whatsapp_business_management', 'whatsapp_business_messaging'];
/** 60 days. */
const LONG_LIFE_SECONDS = 5_184_000;

/** Numbers, accounts, subscriptions and tokens, with every requestable field. */
export function numberRoutes(platform: Platform): Route[] {
  const { numbers, nodes } = platform;
  const shape = new Shape<FullNumber>(
    'WhatsAppBusinessPhoneNumber',
    {
      id: ({ phoneNumberId }) => phoneNumberId,
      display_phone_number: ({ displayPhoneNumber }) => displayPhoneNumber,
      verified_name: ({ verifiedName, facts }) => facts.verifiedName ?? verifiedName,
      quality_rating: ({ facts }) => facts.qualityRating,
      quality_score: ({ facts }) => ({ score: facts.qualityRating }),
      code_verification_status: ({ facts }) => facts.codeVerification,
      platform_type: () => 'CLOUD_API',
      throughput: ({ facts }) => ({ level: facts.throughput }),
      status: ({ facts }) => facts.status,
      name_status: () => 'APPROVED',
      new_display_name: ({ state }) => state.newName,
      new_name_status: ({ state }) => (state.newName === undefined ? 'NONE' : 'PENDING_REVIEW'),
      account_mode: () => 'LIVE',
      ...absent('certificate', 'new_certificate'),
      conversational_automation: ({ phoneNumberId }) => automationOf(numbers, phoneNumberId),
      eligibility_for_api_business_global_search: () => 'NON_ELIGIBLE_UNDEFINED_COUNTRY',
      search_visibility: () => 'NON_VISIBLE',
      is_official_business_account: () => false,
      is_pin_enabled: ({ state }) => state.pin !== undefined,
      is_on_biz_app: ({ facts }) => facts.onBizApp === 'YES',
      is_preverified_number: () => false,
      last_onboarded_time: () => '2026-01-05T09:30:00+0000',
      whatsapp_business_manager_messaging_limit: ({ facts }) => facts.messagingLimit,
      messaging_limit_tier: ({ facts }) => facts.messagingLimit,
      country_dial_code: ({ displayPhoneNumber }) => callingCodeOf(digitsOf(displayPhoneNumber)),
      country_code: ({ displayPhoneNumber }) => countryOf(digitsOf(displayPhoneNumber)),
      // No username here; WhatsApp has a separate call for it.
      username: () => undefined,
      webhook_configuration: ({ state }) => ({
        phone_number: state.webhookUrl,
        application: platform.courier.webhookUrl ?? undefined,
      }),
      whatsapp_business_profile: ({ phoneNumberId }, { sub }) => shownProfile(platform.store, phoneNumberId, sub ?? []),
      owner_business_info: () => BUSINESS,
      health_status: ({ phoneNumberId, wabaId, facts }) =>
        healthOf([['PHONE_NUMBER', phoneNumberId, sendingOf(facts)], ...accountHealth(wabaId)]),
    },
    USUAL_FIELDS,
  );
  const full = (number: SimulatorNumber): FullNumber => {
    const { phoneNumberId } = number;
    return { ...number, facts: numbers.factsOf(phoneNumberId), state: numbers.stateOf(phoneNumberId) };
  };
  const allOf = (wabaId: string) => numbers.ofAccount(wabaId).map(full);
  const appsOf = (wabaId: string) => ({
    data: numbers.isSubscribed(wabaId) ? [{ whatsapp_business_api_data: SIMULATED_APP }] : [],
  });
  const marketingOf = (wabaId: string) => allOf(wabaId)[0]?.facts.marketingStatus ?? 'ONBOARDED';
  const account = new Shape<string>(
    'WhatsAppBusinessAccount',
    {
      id: (wabaId) => wabaId,
      name: () => 'Simulated business account',
      timezone_id: () => '1',
      message_template_namespace: () => 'ba30dd89_2ebd_41e4_b805_f2c05ae04cc9',
      account_review_status: () => 'APPROVED',
      business_verification_status: () => 'verified',
      country: () => 'US',
      currency: () => 'USD',
      ownership_type: () => 'SELF',
      owner_business: () => BUSINESS,
      owner_business_info: () => BUSINESS,
      on_behalf_of_business_info: () => ({ ...BUSINESS, status: 'APPROVED', type: 'SELF' }),
      primary_business_location: () => 'US',
      primary_funding_id: () => '0',
      is_enabled_for_insights: () => true,
      is_shared_with_partners: () => false,
      is_template_analytics_enabled: () => true,
      marketing_messages_lite_api_status: marketingOf,
      marketing_messages_onboarding_status: marketingOf,
      ...absent('auth_international_rate_eligibility', 'purchase_order_number'),
      status: () => 'ACTIVE',
      whatsapp_business_manager_messaging_limit: (wabaId) => allOf(wabaId)[0]?.facts.messagingLimit,
      health_status: (wabaId) => healthOf(accountHealth(wabaId)),
      phone_numbers: (wabaId, field) => shape.within(field, allOf(wabaId)),
      message_templates: (wabaId, field) => TEMPLATES.within(field, platform.templates.ofAccount(wabaId)),
      subscribed_apps: appsOf,
    },
    USUAL_ACCOUNT_FIELDS,
  );
  const subscribe = (wanted: boolean) => (wabaId: string) => {
    numbers.subscribe(wabaId, wanted);
    return SUCCESS;
  };
  const issue = (call: Call) => issueToken(platform, call);
  return [
    nodes.number.on('get', '', (number, call) => shape.show(full(number), call)),
    nodes.account.on('get', '', (wabaId, call) => account.show(wabaId, call)),
    nodes.account.on('get', '/phone_numbers', (wabaId, call) =>
      shape.page(call, allOf(wabaId), (one) => one.phoneNumberId),
    ),
    nodes.account.on('get', '/subscribed_apps', appsOf),
    nodes.account.on('post', '/subscribed_apps', subscribe(true)),
    nodes.account.on('delete', '/subscribed_apps', subscribe(false)),
    on('get', '/debug_token', (call) => debugToken(platform, call)),
    on('get', '/oauth/access_token', issue, 'open'),
    on('post', '/oauth/access_token', issue, 'open'),
  ];
}

/** An app's own token, one for a sign-up code, or a longer-lived one. @throws GraphError 101, 1 or 100 */
function issueToken({ tokens, signupCodes, options }: Platform, call: Call): object {
  const { client_id: app, client_secret: secret, ...given } = call.parameters.values;
  if (app === undefined) throw new GraphError(101, { message: 'Missing client_id parameter.' });
  // In JSON it may be a number.
  if (app !== SIMULATED_APP.id && app !== Number(SIMULATED_APP.id)) throw new GraphError(101);
  if (secret !== options.appSecret) {
    throw new GraphError(1, { httpStatus: 400, message: 'Error validating client secret.' });
  }
  if (given.grant_type === 'client_credentials') {
    return { access_token: tokens.issue(`${SIMULATED_APP.id}|`), token_type: 'bearer' };
  }
  const isExchange = given.grant_type === 'fb_exchange_token' && given.fb_exchange_token !== undefined;
  if (!isExchange && given.code === undefined) {
    throw new GraphError(100, { message: 'Missing redirect_uri parameter.' });
  }
  if (!isExchange) return { access_token: signupCodes.exchange(given.code), token_type: 'bearer' };
  return { access_token: tokens.issue('EAAJ'), token_type: 'bearer', expires_in: LONG_LIFE_SECONDS };
}

/** Whether a token is valid, and for what. */
function debugToken({ tokens, numbers }: Platform, call: Call): object {
  const token = call.query('input_token') ?? '';
  if (token === '') throw invalidParam('You must provide an input token.');
  if (tokens.isForeign(token)) {
    throw invalidParam('The App_id in the input_token did not match the Viewing App');
  }
  const isValid = tokens.isValid(token);
  const message = 'Error validating access token: it is not valid any more.';
  const accounts = [...new Set(numbers.all().map(({ wabaId }) => wabaId))];
  return {
    data: {
      app_id: SIMULATED_APP.id,
      type: 'SYSTEM_USER',
      application: SIMULATED_APP.name,
      expires_at: 0,
      is_valid: isValid,
      error: isValid ? undefined : { code: 190, subcode: 463, message },
      scopes: isValid ? SCOPES : [],
      granular_scopes: isValid ? SCOPES.slice(1).map((scope) => ({ scope, target_ids: accounts })) : [],
    },
  };
}

function sendingOf({ status }: Readonly<NumberFacts>): 'AVAILABLE' | 'LIMITED' | 'BLOCKED' {
  if (status === 'CONNECTED') return 'AVAILABLE';
  return ['FLAGGED', 'RESTRICTED', 'RATE_LIMITED'].includes(status) ? 'LIMITED' : 'BLOCKED';
}
