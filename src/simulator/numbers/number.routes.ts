import type { Request } from 'express';
import { invalidParam, unknownObject } from '../graph-error.js';
import type { AccessTokens } from '../http/access.js';
import { type Fields, fieldsOf, pageOf, pathId, pick, queryParam, type Route, SUCCESS } from '../http/route.js';
import { callingCodeOf, countryOf, digitsOf } from '../people.js';
import type { SimulatorNumber } from '../simulator.types.js';
import type { NumberFacts, Numbers } from './numbers.js';

/** The app that the simulator's notifications belong to. */
export const SIMULATED_APP = {
  link: 'https://www.facebook.com/games/?app_id=670843887433847',
  name: 'Simulated app',
  id: '670843887433847',
};

type FullNumber = SimulatorNumber & { facts: Readonly<NumberFacts> };

/** Every field that can be asked for. */
const FIELDS: Fields<FullNumber> = {
  id: ({ phoneNumberId }) => phoneNumberId,
  display_phone_number: ({ displayPhoneNumber }) => displayPhoneNumber,
  verified_name: ({ verifiedName, facts }) => facts.verifiedName ?? verifiedName,
  quality_rating: ({ facts }) => facts.qualityRating,
  code_verification_status: () => 'VERIFIED',
  platform_type: () => 'CLOUD_API',
  throughput: ({ facts }) => ({ level: facts.throughput }),
  status: ({ facts }) => facts.status,
  name_status: () => 'APPROVED',
  account_mode: () => 'LIVE',
  is_official_business_account: () => false,
  is_pin_enabled: () => false,
  is_on_biz_app: () => false,
  last_onboarded_time: () => '2026-01-05T09:30:00+0000',
  whatsapp_business_manager_messaging_limit: ({ facts }) => facts.messagingLimit,
  messaging_limit_tier: ({ facts }) => facts.messagingLimit,
  country_dial_code: ({ displayPhoneNumber }) => callingCodeOf(digitsOf(displayPhoneNumber)),
  country_code: ({ displayPhoneNumber }) => countryOf(digitsOf(displayPhoneNumber)),
  health_status: ({ phoneNumberId, facts }) => {
    const health = { can_send_message: healthOf(facts) };
    return { ...health, entities: [{ entity_type: 'PHONE_NUMBER', id: phoneNumberId, ...health }] };
  },
};

/** What comes without `fields`. */
const USUAL_FIELDS = [
  'verified_name',
  'code_verification_status',
  'display_phone_number',
  'quality_rating',
  'platform_type',
  'throughput',
  'id',
];

const ACCOUNT = {
  name: 'Simulated business account',
  timezone_id: '1',
  message_template_namespace: 'ba30dd89_2ebd_41e4_b805_f2c05ae04cc9',
};
const SCOPES = ['business_management', 'whatsapp_business_management', 'whatsapp_business_messaging'];

interface NumberParts {
  numbers: Numbers;
  tokens: AccessTokens;
}

/** Numbers, accounts, subscriptions and tokens. */
export function numberRoutes({ numbers, tokens }: NumberParts): Route[] {
  const asked = (request: Request) => fieldsOf(request, FIELDS, USUAL_FIELDS, 'WhatsAppBusinessPhoneNumber');
  const shown = (number: SimulatorNumber, fields: readonly string[]) =>
    pick({ ...number, facts: numbers.factsOf(number.phoneNumberId) }, FIELDS, fields);
  const subscribe = (wanted: boolean) => (request: Request) => {
    numbers.subscribe(pathId(request, 'waba'), wanted);
    return SUCCESS;
  };
  const showNumber = (request: Request) => {
    const id = pathId(request, 'phone_number');
    const number = numbers.get(id);
    if (number === undefined) throw unknownObject('GET', id);
    return shown(number, asked(request));
  };
  const listNumbers = (request: Request) => {
    const fields = asked(request);
    const page = pageOf(numbers.ofAccount(pathId(request, 'waba')), ({ phoneNumberId }) => phoneNumberId, request);
    return { ...page, data: page.data.map((number) => shown(number, fields)) };
  };
  const listApps = (request: Request) => {
    const isSubscribed = numbers.isSubscribed(pathId(request, 'waba'));
    return { data: isSubscribed ? [{ whatsapp_business_api_data: SIMULATED_APP }] : [] };
  };
  return [
    ['GET', '/:phone_number', showNumber],
    ['GET', '/:waba', (request) => ({ id: pathId(request, 'waba'), ...ACCOUNT })],
    ['GET', '/:waba/phone_numbers', listNumbers],
    ['GET', '/:waba/subscribed_apps', listApps],
    ['POST', '/:waba/subscribed_apps', subscribe(true)],
    ['DELETE', '/:waba/subscribed_apps', subscribe(false)],
    ['GET', '/debug_token', (request) => debugToken(request, tokens, numbers)],
  ];
}

/** Whether a token is good, and what for. */
function debugToken(request: Request, tokens: AccessTokens, numbers: Numbers): object {
  const token = queryParam(request, 'input_token');
  if (token === null || token === '') throw invalidParam('You must provide an input token.');
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

function healthOf({ status }: Readonly<NumberFacts>): string {
  if (status === 'CONNECTED') return 'AVAILABLE';
  return status === 'FLAGGED' || status === 'RESTRICTED' ? 'LIMITED' : 'BLOCKED';
}
