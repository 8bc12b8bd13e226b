import { GraphError, invalidParam } from '../graph-error.js';
import { type Call, control, type Route } from '../http/call.js';
import { numberOf } from '../control/control.routes.js';
import { digitsOf, isNamedByUserId, partyOf, resolveRecipient } from '../people.js';
import type { Platform } from '../platform.js';
import type { SimulatorNumber } from '../simulator.types.js';
import { ROLES, type ThreadOwner } from './threads.js';

const MAX_NOTE = 2_000;
const MAX_TEXT = 4_096;
/** The app's own role. */
const OWN_ROLE = 'customer_service';

/** Conversation routing: the app's call, and what the second responder does. */
export function threadRoutes(platform: Platform): Route[] {
  const { number } = platform.nodes;
  return [
    number.on('post', '/thread_control', (sender, call) => changeControl(platform, sender, call)),
    control('post', '/numbers/:id/threads', (call) => actAsOther(platform, call)),
  ];
}

function changeControl({ threads, numbers, ids, options }: Platform, sender: SimulatorNumber, call: Call): object {
  const { param } = call;
  const { phoneNumberId } = sender;
  param.product();
  const action = param.oneOf('action', ['pass', 'release', 'take']);
  param.optionalText('metadata', MAX_NOTE);
  const recipient = resolveRecipient(call.parameters.values, sender, options.bareNumbers);
  const role = param.get('control_pass').isGiven
    ? param.object('control_pass').oneOf('target_role', ROLES)
    : 'ai_agent';
  if (!threads.isRouted(phoneNumberId)) throw invalidParam('Conversation routing is not set up for this number.');
  const party = recipient.waId ?? recipient.to;
  const { owner } = threads.ownerOf(phoneNumberId, party);
  if (action === 'take') {
    if (numbers.factsOf(phoneNumberId).secondResponder !== 'ESCALATION') throw new GraphError(2494191);
    threads.setOwner(phoneNumberId, party, { owner: 'app', role: null });
  } else {
    if (owner !== 'app') throw new GraphError(131070);
    const next: ThreadOwner = action === 'pass' ? { owner: 'other', role } : { owner: 'none', role: null };
    threads.setOwner(phoneNumberId, party, next);
  }
  return { messaging_product: 'whatsapp', request_id: ids.newObjectId() };
}

/** The second responder answers, passes the thread to the app, or takes it. */
function actAsOther(platform: Platform, call: Call): object {
  const { threads, people, ids } = platform;
  const number = numberOf(platform.numbers, call.pathParam('id'));
  const { param } = call;
  const { phoneNumberId, wabaId } = number;
  if (!threads.isRouted(phoneNumberId)) throw invalidParam('The number has no second responder: set second_responder.');
  const party = partyOf(param.text('from', 100));
  const action = param.oneOf('action', ['answer', 'pass', 'take']);
  const role = param.optionalOneOf('role', ROLES);
  const metadata = param.optionalText('metadata', MAX_NOTE);
  const summary = param.optionalText('summary', MAX_TEXT);
  const timestamp = String(param.optionalNumber('timestamp', 1, 10_000_000_000) ?? Math.floor(Date.now() / 1000));
  const own = { display_phone_number: digitsOf(number.displayPhoneNumber), phone_number_id: phoneNumberId };
  const before = threads.ownerOf(phoneNumberId, party);
  if (action === 'answer') {
    const id = ids.outboundWamid(ids.nextSequence(), party);
    const to = isNamedByUserId(party) ? { recipient: party } : { to: party };
    const message = {
      ...to,
      type: 'text',
      text: { body: param.optionalText('text', MAX_TEXT) ?? 'One moment, please.' },
    };
    const observe = (standby: object) =>
      platform.notifyAccount(wabaId, 'standby', { messaging_product: 'whatsapp', metadata: own, standby });
    observe({ message_echoes: [{ id, timestamp, message }] });
    observe({ statuses: [{ id, status: 'sent', timestamp, recipient_id: party }] });
    return { ...before, id };
  }
  const after: ThreadOwner =
    action === 'pass' ? { owner: 'app', role: null } : { owner: 'other', role: role ?? 'ai_agent' };
  threads.setOwner(phoneNumberId, party, after);
  const type = action === 'pass' ? 'control_passed' : 'control_taken';
  platform.notifyAccount(wabaId, 'messaging_handovers', {
    messaging_product: 'whatsapp',
    recipient: own,
    sender: isNamedByUserId(party) ? { user_id: party } : { phone_number: party, user_id: people.userIdOf(party) },
    type,
    timestamp,
    [type]: {
      previous_owner_role: before.role ?? OWN_ROLE,
      new_owner_role: after.role ?? role ?? OWN_ROLE,
      metadata,
      conversation_context: summary === undefined ? undefined : { type: 'summary', summary: { text: summary } },
    },
  });
  return after;
}
