import { GraphError } from '../graph-error.js';
import { jsonAnswer, SUCCESS } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { pageOf } from '../http/page.js';
import type { SimulatorContext } from '../simulator-context.js';
import type { SimulatorNumber } from '../simulator.types.js';
import type { NumberFacts } from './number-facts.js';
import { SIMULATED_APP } from './simulated-app.js';
import { digitsOf } from '../recipient.js';
import { callingCodeOf, countryOf } from '../calling-codes.js';

/** Every field that can be asked for. */
const FIELDS: Readonly<Record<string, (number: SimulatorNumber, facts: Readonly<NumberFacts>) => unknown>> = {
  id: (number) => number.phoneNumberId,
  display_phone_number: (number) => number.displayPhoneNumber,
  verified_name: (number, facts) => facts.verifiedName ?? number.verifiedName,
  quality_rating: (_, facts) => facts.qualityRating,
  code_verification_status: () => 'VERIFIED',
  platform_type: () => 'CLOUD_API',
  throughput: (_, facts) => ({ level: facts.throughput }),
  status: (_, facts) => facts.status,
  name_status: () => 'APPROVED',
  account_mode: () => 'LIVE',
  is_official_business_account: () => false,
  is_pin_enabled: () => false,
  is_on_biz_app: () => false,
  last_onboarded_time: () => '2026-01-05T09:30:00+0000',
  whatsapp_business_manager_messaging_limit: (_, facts) => facts.messagingLimit,
  messaging_limit_tier: (_, facts) => facts.messagingLimit,
  country_dial_code: (number) => callingCodeOf(digitsOf(number.displayPhoneNumber)),
  country_code: (number) => countryOf(digitsOf(number.displayPhoneNumber)),
  health_status: (number, facts) => {
    const health = healthOf(facts);
    return {
      can_send_message: health,
      entities: [{ entity_type: 'PHONE_NUMBER', id: number.phoneNumberId, can_send_message: health }],
    };
  },
};

/** What comes without `fields`. */
const DEFAULT_FIELDS = [
  'verified_name',
  'code_verification_status',
  'display_phone_number',
  'quality_rating',
  'platform_type',
  'throughput',
  'id',
];

/** Registers the calls about numbers, accounts and subscriptions. */
export function registerNumberRoutes(context: SimulatorContext): void {
  const { router, numbers, numberFacts } = context;
  router.resolveNodes((id) => (numbers.get(id) === undefined ? null : 'phone_number'));
  router.resolveNodes((id) => (numbers.hasAccount(id) ? 'waba' : null));

  router.graph('GET', 'phone_number', '', (call) => {
    const number = numbers.get(call.nodeId);
    if (number === undefined) throw new GraphError(100, { subcode: 33 });
    return jsonAnswer(pick(number, numberFacts.of(number.phoneNumberId), fieldsOf(call)));
  });
  router.graph('GET', 'waba', '', (call) =>
    jsonAnswer({
      id: call.nodeId,
      name: 'Simulated business account',
      timezone_id: '1',
      message_template_namespace: 'ba30dd89_2ebd_41e4_b805_f2c05ae04cc9',
    }),
  );
  router.graph('GET', 'waba', 'phone_numbers', (call) => {
    const fields = fieldsOf(call);
    const page = pageOf(numbers.ofAccount(call.nodeId), (number) => number.phoneNumberId, call);
    return jsonAnswer({
      ...page,
      data: page.data.map((number) => pick(number, numberFacts.of(number.phoneNumberId), fields)),
    });
  });
  router.graph('GET', 'waba', 'subscribed_apps', (call) =>
    jsonAnswer({ data: numbers.isSubscribed(call.nodeId) ? [{ whatsapp_business_api_data: SIMULATED_APP }] : [] }),
  );
  router.graph('POST', 'waba', 'subscribed_apps', (call) => {
    numbers.subscribe(call.nodeId, true);
    return SUCCESS;
  });
  router.graph('DELETE', 'waba', 'subscribed_apps', (call) => {
    numbers.subscribe(call.nodeId, false);
    return SUCCESS;
  });
}

function fieldsOf(call: Call): string[] {
  const asked = call.query.get('fields');
  if (asked === null || asked.trim() === '') return DEFAULT_FIELDS;
  const fields = asked.split(',').map((field) => field.trim());
  for (const field of fields) {
    if (!(field in FIELDS)) {
      throw new GraphError(100, {
        message: `(#100) Tried accessing nonexisting field (${field}) on node type (WhatsAppBusinessPhoneNumber)`,
      });
    }
  }
  return [...new Set([...fields, 'id'])];
}

function pick(
  number: SimulatorNumber,
  facts: Readonly<NumberFacts>,
  fields: readonly string[],
): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field, FIELDS[field]?.(number, facts)]));
}

function healthOf({ status }: Readonly<NumberFacts>): string {
  if (status === 'CONNECTED') return 'AVAILABLE';
  return status === 'FLAGGED' || status === 'RESTRICTED' ? 'LIMITED' : 'BLOCKED';
}
