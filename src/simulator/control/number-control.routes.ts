import { type Answer, jsonAnswer } from '../http/answer.js';
import type { Call } from '../http/call.js';
import type { JsonObject } from '../messages/checks.js';
import {
  MESSAGING_LIMITS,
  NUMBER_STATUSES,
  type NumberFacts,
  QUALITY_RATINGS,
  THROUGHPUT_LEVELS,
} from '../numbers/number-facts.js';
import { noticesOf } from '../numbers/number-notices.js';
import type { SimulatorContext } from '../simulator-context.js';
import type { SimulatorNumber } from '../simulator.types.js';
import {
  controlBody,
  ControlError,
  controlHandler,
  optionalChoice,
  optionalFlag,
  optionalText,
  textField,
} from './control-input.js';

/** Registers the control calls about numbers and tokens. */
export function registerNumberControlRoutes(context: SimulatorContext): void {
  const { router } = context;
  router.plain(
    'POST',
    '/_simulator/numbers/:id',
    controlHandler((call) => changeNumber(context, call)),
  );
  router.plain(
    'GET',
    '/_simulator/numbers/:id',
    controlHandler((call) => show(context, numberOf(context, call))),
  );
  router.plain(
    'POST',
    '/_simulator/tokens',
    controlHandler((call) => {
      const body = controlBody(call);
      const token = textField(body, 'token');
      if (typeof body.valid !== 'boolean') throw new ControlError('"valid" must be true or false.');
      context.tokens.setValid(token, body.valid);
      return jsonAnswer({ valid: body.valid });
    }),
  );
}

function numberOf(context: SimulatorContext, call: Call): SimulatorNumber {
  const id = call.params.id as string;
  const number = context.numbers.get(id);
  if (number === undefined) {
    throw new ControlError(`No number has the id ${id}. GET /_simulator/numbers lists them.`, 404);
  }
  return number;
}

function changeNumber(context: SimulatorContext, call: Call): Answer {
  const number = numberOf(context, call);
  const body = controlBody(call);
  const changes = readChanges(body);
  const notify = body.notify === undefined || optionalFlag(body, 'notify');
  const before = context.numberFacts.of(number.phoneNumberId);
  const after = context.numberFacts.change(number.phoneNumberId, changes);
  if (notify) {
    for (const { field, value } of noticesOf(number, before, after)) context.notifyAccount(number.wabaId, field, value);
  }
  return show(context, number);
}

const KNOWN = ['quality_rating', 'throughput', 'status', 'messaging_limit', 'verified_name', 'notify'];

function readChanges(body: JsonObject): Partial<NumberFacts> {
  const unknown = Object.keys(body).find((key) => !KNOWN.includes(key));
  if (unknown !== undefined) throw new ControlError(`"${unknown}" can't be set. There are ${KNOWN.join(', ')}.`);
  const changes = {
    qualityRating: optionalChoice(body, 'quality_rating', QUALITY_RATINGS),
    throughput: optionalChoice(body, 'throughput', THROUGHPUT_LEVELS),
    status: optionalChoice(body, 'status', NUMBER_STATUSES),
    messagingLimit: optionalChoice(body, 'messaging_limit', MESSAGING_LIMITS),
    verifiedName: optionalText(body, 'verified_name'),
  };
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
}

function show(context: SimulatorContext, number: SimulatorNumber): Answer {
  const facts = context.numberFacts.of(number.phoneNumberId);
  return jsonAnswer({
    phone_number_id: number.phoneNumberId,
    waba_id: number.wabaId,
    display_phone_number: number.displayPhoneNumber,
    verified_name: facts.verifiedName ?? number.verifiedName,
    quality_rating: facts.qualityRating,
    throughput: facts.throughput,
    status: facts.status,
    messaging_limit: facts.messagingLimit,
  });
}
