import type { Request } from 'express';
import { GraphError, invalidParam, unknownObject } from '../graph-error.js';
import type { AccessTokens } from '../http/access.js';
import { type Fields, fieldsOf, knownFields, pick } from '../http/fields.js';
import { parametersOf } from '../http/parameters.js';
import { pageOf, pathId, queryParam, type Route, SUCCESS } from '../http/route.js';
import { callingCodeOf, countryOf, digitsOf } from '../people.js';
import type { SimulatorNumber } from '../simulator.types.js';
import type { Store } from '../store.js';
import { TEMPLATE_FIELDS, USUAL_FIELDS as USUAL_TEMPLATE_FIELDS } from '../templates/template-json.js';
import type { TemplateStore } from '../templates/template-store.js';
import { accountHealth, BUSINESS, healthOf, SIMULATED_APP } from './health.js';
import type { NumberFacts, Numbers, NumberState } from './numbers.js';
import { type Profile, shownProfile } from './profile.routes.js';
import { automationOf } from './registration.routes.js';

const SUBSCRIBED_APP = { whatsapp_business_api_data: SIMULATED_APP };

export interface NumberParts {
  numbers: Numbers;
  tokens: AccessTokens;
  templates: TemplateStore;
  store: Store;
  /** Key of the signatures, which is the app's secret. */
  appSecret: string;
  /** Where notifications are posted; null while that is not known. */
  webhookUrl(): string | null;
}

type FullNumber = SimulatorNumber & { facts: Readonly<NumberFacts>; state: Readonly<NumberState> };

/** Numbers, accounts, subscriptions and tokens, with every field that can be asked for. */
export class NumberCalls {
  private readonly fields: Fields<FullNumber> = {
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
    certificate: () => undefined,
    new_certificate: () => undefined,
    conversational_automation: ({ phoneNumberId }) => automationOf(this.parts.numbers, phoneNumberId),
    eligibility_for_api_business_global_search: () => 'NON_ELIGIBLE_UNDEFINED_COUNTRY',
    search_visibility: () => 'NON_VISIBLE',
    is_official_business_account: () => false,
    is_pin_enabled: ({ state }) => state.pin !== undefined,
    is_on_biz_app: () => false,
    is_preverified_number: () => false,
    last_onboarded_time: () => '2026-01-05T09:30:00+0000',
    whatsapp_business_manager_messaging_limit: ({ facts }) => facts.messagingLimit,
    messaging_limit_tier: ({ facts }) => facts.messagingLimit,
    country_dial_code: ({ displayPhoneNumber }) => callingCodeOf(digitsOf(displayPhoneNumber)),
    country_code: ({ displayPhoneNumber }) => countryOf(digitsOf(displayPhoneNumber)),
    // A number without one; it has a call of its own on the platform.
    username: () => undefined,
    webhook_configuration: ({ state }) => ({
      phone_number: state.webhookUrl,
      application: this.parts.webhookUrl() ?? undefined,
    }),
    whatsapp_business_profile: ({ phoneNumberId }, { sub }) =>
      shownProfile(this.parts.store.table<Profile>('profiles'), phoneNumberId, sub ?? []),
    owner_business_info: () => BUSINESS,
    health_status: ({ phoneNumberId, wabaId, facts }) =>
      healthOf([['PHONE_NUMBER', phoneNumberId, sendingOf(facts)], ...accountHealth(wabaId)]),
  };

  private readonly accountFields: Fields<string> = {
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
    purchase_order_number: () => undefined,
    is_enabled_for_insights: () => true,
    is_shared_with_partners: () => false,
    is_template_analytics_enabled: () => true,
    marketing_messages_lite_api_status: () => 'ONBOARDED',
    marketing_messages_onboarding_status: () => 'ONBOARDED',
    auth_international_rate_eligibility: () => undefined,
    status: () => 'ACTIVE',
    whatsapp_business_manager_messaging_limit: (wabaId) => this.factsOfFirst(wabaId)?.messagingLimit,
    health_status: (wabaId) => healthOf(accountHealth(wabaId)),
    phone_numbers: (wabaId, { sub, modifiers }) => {
      const fields = knownFields(sub, this.fields, USUAL_FIELDS, 'WhatsAppBusinessPhoneNumber');
      return pageOfField(this.parts.numbers.ofAccount(wabaId), modifiers, (number) => this.shown(number, fields));
    },
    message_templates: (wabaId, { sub, modifiers }) => {
      const fields = knownFields(sub, TEMPLATE_FIELDS, USUAL_TEMPLATE_FIELDS, 'WhatsAppMessageTemplate');
      const all = this.parts.templates.ofAccount(wabaId);
      return pageOfField(all, modifiers, (template) => pick(template, TEMPLATE_FIELDS, fields));
    },
    subscribed_apps: (wabaId) => ({ data: this.parts.numbers.isSubscribed(wabaId) ? [SUBSCRIBED_APP] : [] }),
  };

  constructor(private readonly parts: NumberParts) {}

  routes(): Route[] {
    const { numbers } = this.parts;
    const asked = (request: Request) => fieldsOf(request, this.fields, USUAL_FIELDS, 'WhatsAppBusinessPhoneNumber');
    const subscribe = (wanted: boolean) => (request: Request) => {
      numbers.subscribe(pathId(request, 'waba'), wanted);
      return SUCCESS;
    };
    const showNumber = (request: Request) => {
      const id = pathId(request, 'phone_number');
      const number = numbers.get(id);
      if (number === undefined) throw unknownObject('GET', id);
      return this.shown(number, asked(request));
    };
    const listNumbers = (request: Request) => {
      const fields = asked(request);
      const page = pageOf(numbers.ofAccount(pathId(request, 'waba')), ({ phoneNumberId }) => phoneNumberId, request);
      return { ...page, data: page.data.map((number) => this.shown(number, fields)) };
    };
    const showAccount = (request: Request) => {
      const fields = fieldsOf(request, this.accountFields, USUAL_ACCOUNT_FIELDS, 'WhatsAppBusinessAccount');
      return pick(pathId(request, 'waba'), this.accountFields, fields);
    };
    const listApps = (request: Request) => ({
      data: numbers.isSubscribed(pathId(request, 'waba')) ? [SUBSCRIBED_APP] : [],
    });
    const issueToken = (request: Request) => this.issueToken(request);
    return [
      ['GET', '/:phone_number', showNumber],
      ['GET', '/:waba', showAccount],
      ['GET', '/:waba/phone_numbers', listNumbers],
      ['GET', '/:waba/subscribed_apps', listApps],
      ['POST', '/:waba/subscribed_apps', subscribe(true)],
      ['DELETE', '/:waba/subscribed_apps', subscribe(false)],
      ['GET', '/debug_token', (request) => debugToken(request, this.parts)],
      ['GET', '/oauth/access_token', issueToken, 'open'],
      ['POST', '/oauth/access_token', issueToken, 'open'],
    ];
  }

  private shown(number: SimulatorNumber, fields: Parameters<typeof pick>[2]): object {
    const { numbers } = this.parts;
    const { phoneNumberId } = number;
    const full = { ...number, facts: numbers.factsOf(phoneNumberId), state: numbers.stateOf(phoneNumberId) };
    return pick(full, this.fields, fields);
  }

  private factsOfFirst(wabaId: string): Readonly<NumberFacts> | undefined {
    const [first] = this.parts.numbers.ofAccount(wabaId);
    return first && this.parts.numbers.factsOf(first.phoneNumberId);
  }

  /** An app's own token, one for a code of a sign-up, or a longer-lived one. @throws GraphError 101, 1 or 100 */
  private issueToken(request: Request): object {
    const { client_id: app, client_secret: secret, ...given } = parametersOf(request);
    if (app === undefined) throw new GraphError(101, { message: 'Missing client_id parameter.' });
    // A number in JSON.
    if (app !== SIMULATED_APP.id && app !== Number(SIMULATED_APP.id)) throw new GraphError(101);
    if (secret !== this.parts.appSecret) {
      throw new GraphError(1, { httpStatus: 400, message: 'Error validating client secret.' });
    }
    if (given.grant_type === 'client_credentials') {
      return { access_token: this.parts.tokens.issue(`${SIMULATED_APP.id}|`), token_type: 'bearer' };
    }
    const isExchange = given.grant_type === 'fb_exchange_token' && given.fb_exchange_token !== undefined;
    if (!isExchange && given.code === undefined)
      throw new GraphError(100, { message: 'Missing redirect_uri parameter.' });
    const life = isExchange ? { expires_in: LONG_LIFE_SECONDS } : {};
    return { access_token: this.parts.tokens.issue('EAAJ'), token_type: 'bearer', ...life };
  }
}

/** 60 days. */
const LONG_LIFE_SECONDS = 5_184_000;
const MOST_IN_A_FIELD = 25;

/** A list within an object, with `.limit(n)`. */
function pageOfField<T>(items: readonly T[], { limit }: Readonly<Record<string, string>>, show: (item: T) => object) {
  const count = limit === undefined ? MOST_IN_A_FIELD : Number(limit);
  if (!Number.isInteger(count) || count < 1) throw invalidParam('Param limit must be a number between 1 and 1000.');
  return { data: items.slice(0, count).map(show) };
}

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
const USUAL_ACCOUNT_FIELDS = ['id', 'name', 'timezone_id', 'message_template_namespace'];
const SCOPES = ['business_management', 'whatsapp_business_management', 'whatsapp_business_messaging'];

/** Whether a token is good, and what for. */
function debugToken(request: Request, { tokens, numbers }: NumberParts): object {
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

function sendingOf({ status }: Readonly<NumberFacts>): 'AVAILABLE' | 'LIMITED' | 'BLOCKED' {
  if (status === 'CONNECTED') return 'AVAILABLE';
  return status === 'FLAGGED' || status === 'RESTRICTED' ? 'LIMITED' : 'BLOCKED';
}
