import { GraphError, invalidParam } from '../graph-error.js';
import { type Call, control, pageOf, type Route } from '../http/call.js';
import type { JsonObject, Param } from '../http/param.js';
import { isNamedByUserId, partyOf, resolveRecipient } from '../people.js';
import type { Platform } from '../platform.js';
import type { SimulatorNumber } from '../simulator.types.js';
import { settingsOf } from './registration.routes.js';

const MAX_AT_ONCE = 1_000;
const ACTIONS = ['connect', 'pre_accept', 'accept', 'reject', 'terminate'];

/** The customers whom a number has blocked, and those it may call. A permitted call ends at once: there is no sound. */
export function customerRoutes(platform: Platform): Route[] {
  const { number } = platform.nodes;
  return [
    number.on('get', '/block_users', ({ phoneNumberId }, call) => {
      const show = (party: string) => ({ messaging_product: 'whatsapp', ...identityOf(party) });
      return pageOf(call, platform.people.blockedBy(phoneNumberId), (party) => party, show);
    }),
    number.on('post', '/block_users', ({ phoneNumberId }, { param }) => block(platform, phoneNumberId, param, true)),
    number.on('delete', '/block_users', ({ phoneNumberId }, { param }) => block(platform, phoneNumberId, param, false)),
    number.on('delete', '/contact_book', (_, { param }) => removeContact(platform, param)),
    control('get', '/contact_book', () => ({ data: platform.people.removedContacts().map((bsuid) => ({ bsuid })) })),
    number.on('get', '/call_permissions', ({ phoneNumberId }, call) => permission(platform, phoneNumberId, call)),
    number.on('post', '/calls', (caller, call) => connect(platform, caller, call)),
  ];
}

/** Only a customer who wrote within the last 24 hours can be blocked. */
function block({ people, inboundLog }: Platform, phoneNumberId: string, param: Param, wanted: boolean): object {
  param.product();
  const changed: object[] = [];
  const failed: object[] = [];
  for (const user of param.objects('block_users', 1, MAX_AT_ONCE)) {
    const input = user.get('user').isGiven ? user.text('user', 200) : user.text('user_id', 200);
    const party = partyOf(input);
    if (wanted && !inboundLog.windowIsOpen(phoneNumberId, people.namesOf(party), Date.now())) {
      const details = 'The user has not written to this number in the last 24 hours';
      const error = { message: 'Re-engagement required', code: 131047, error_data: { details } };
      failed.push({ input, ...identityOf(party), errors: [error] });
    } else {
      people.setBlocked(phoneNumberId, party, wanted);
      changed.push({ input, ...identityOf(party) });
    }
  }
  const users = { [wanted ? 'added_users' : 'removed_users']: changed };
  const answer = { messaging_product: 'whatsapp', block_users: users };
  if (failed.length === 0) return answer;
  throw new GraphError(139100, {
    details: 'Failed to block some users, see the block_users response list for details',
    beside: { ...answer, block_users: { ...users, failed_users: failed } },
  });
}

/**
 * The portfolio's book of numbers that customers shared; a control call lists the removed ones.
 *
 * @throws GraphError 100 or 131009
 */
function removeContact({ people }: Platform, param: Param): object {
  param.product();
  const bsuid = param.required('bsuid', 200);
  if (!isNamedByUserId(bsuid)) throw new GraphError(131009, 'Parameter bsuid is not a business-scoped user id');
  people.removeContact(bsuid);
  return { success: true };
}

function identityOf(party: string): { wa_id: string } | { user_id: string } {
  return isNamedByUserId(party) ? { user_id: party } : { wa_id: party };
}

function permission({ people }: Platform, phoneNumberId: string, call: Call): object {
  const user = call.query('user_wa_id') ?? call.query('recipient') ?? '';
  if (user === '') throw invalidParam('The parameter user_wa_id is required.');
  const end = people.endOfCallPermission(phoneNumberId, partyOf(user));
  const limit = (time_period: string, max_allowed: number) => ({ time_period, max_allowed, current_usage: 0 });
  const action = (action_name: string, can_perform_action: boolean, limits: object[]) => ({
    action_name,
    can_perform_action,
    limits,
  });
  return {
    messaging_product: 'whatsapp',
    permission:
      end === null ? { status: 'no_permission' } : { status: 'temporary', expiration_time: Math.floor(end / 1000) },
    actions: [
      action('send_call_permission_request', end === null, [limit('PT24H', 1), limit('P7D', 2)]),
      action('start_call', end !== null, [limit('PT24H', 5)]),
    ],
  };
}

function connect({ numbers, ids, people, options }: Platform, caller: SimulatorNumber, call: Call): object {
  const { param } = call;
  const { phoneNumberId } = caller;
  param.product();
  if (param.oneOf('action', ACTIONS) !== 'connect') {
    // No call lasts, so none can be accepted or ended.
    throw invalidParam(`Param call_id is no call that can be changed: ${param.text('call_id', 512)}`);
  }
  const session = param.object('session');
  session.oneOf('sdp_type', ['offer', 'answer']);
  session.text('sdp', 100_000);
  const { status } = settingsOf(numbers, phoneNumberId).calling as JsonObject;
  if (status !== 'ENABLED') throw new GraphError(138000, 'Calling is not enabled in the settings');
  const { waId, to } = resolveRecipient(call.parameters.values, caller, options.bareNumbers);
  const party = waId ?? to;
  if (people.endOfCallPermission(phoneNumberId, party) === null) {
    throw new GraphError(138006, 'The recipient has not given permission to be called');
  }
  const id = ids.outboundWamid(ids.nextSequence(), party).replace('wamid', 'wacid');
  return { messaging_product: 'whatsapp', calls: [{ id }], success: true };
}
