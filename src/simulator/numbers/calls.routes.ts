import type { Request } from 'express';
import { GraphError, invalidParam } from '../graph-error.js';
import { parametersOf } from '../http/parameters.js';
import { isObject, pathId, queryParam, type Route } from '../http/route.js';
import type { IdSource } from '../ids.js';
import { checkProduct, type JsonObject, Param } from '../messages/param.js';
import { partyOf, resolveRecipient } from '../people.js';
import type { BareNumbers } from '../simulator.types.js';
import type { Table } from '../store.js';
import type { Numbers } from './numbers.js';
import { settingsOf } from './registration.routes.js';

/** A permission that a customer gave lasts so long. */
const PERMISSION_MS = 7 * 24 * 60 * 60 * 1000;
const ACTIONS = ['connect', 'pre_accept', 'accept', 'reject', 'terminate'];

export interface CallParts {
  numbers: Numbers;
  ids: IdSource;
  bareNumbers: BareNumbers;
  callPermissions: CallPermissions;
}

/** Which customers may be called by which number, and until when. */
export class CallPermissions {
  /** @param until by number and customer, milliseconds */
  constructor(private readonly until: Table<number>) {}

  /** Takes a customer's answer to a request, from what they wrote; anything else changes nothing. */
  note(phoneNumberId: string, party: string, message: unknown): void {
    const interactive = isObject(message) && isObject(message.interactive) ? message.interactive : {};
    const reply = interactive.call_permission_reply;
    if (!isObject(reply)) return;
    const key = `${phoneNumberId} ${party}`;
    if (reply.response === 'accept') this.until.set(key, Date.now() + PERMISSION_MS);
    else this.until.delete(key);
  }

  /** When the permission ends, milliseconds; null where there is none. */
  endOf(phoneNumberId: string, party: string): number | null {
    const end = this.until.get(`${phoneNumberId} ${party}`) ?? 0;
    return end > Date.now() ? end : null;
  }

  clear(): void {
    this.until.clear();
  }
}

/** Permission to call, and its refusal. A call that may be made ends at once: there is no sound here. */
export function callRoutes(parts: CallParts): Route[] {
  return [
    ['GET', '/:phone_number/call_permissions', (request) => permission(parts, request)],
    ['POST', '/:phone_number/calls', (request) => call(parts, request)],
  ];
}

function permission({ callPermissions }: CallParts, request: Request): object {
  const user = queryParam(request, 'user_wa_id') ?? queryParam(request, 'recipient');
  if (user === null || user === '') throw invalidParam('The parameter user_wa_id is required.');
  const party = partyOf(user);
  const end = callPermissions.endOf(pathId(request, 'phone_number'), party);
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

function call(parts: CallParts, request: Request): object {
  const { numbers, ids, callPermissions, bareNumbers } = parts;
  const phoneNumberId = pathId(request, 'phone_number');
  const sender = numbers.get(phoneNumberId);
  const body = parametersOf(request);
  checkProduct(body);
  const param = Param.body(body);
  const action = param.oneOf('action', ACTIONS);
  if (sender === undefined || action !== 'connect') {
    // No call lasts, so there is none to accept or to end.
    throw invalidParam(`Param call_id is no call that can be changed: ${param.text('call_id', 512)}`);
  }
  checkSession(param);
  const { status } = settingsOf(numbers, phoneNumberId).calling as JsonObject;
  if (status !== 'ENABLED') throw new GraphError(138000, { details: 'Calling is not enabled in the settings' });
  const { waId, to } = resolveRecipient(body, sender, bareNumbers);
  const party = waId ?? to;
  if (callPermissions.endOf(phoneNumberId, party) === null) {
    throw new GraphError(138006, { details: 'The recipient has not given permission to be called' });
  }
  const id = ids.outboundWamid(ids.nextSequence(), party).replace('wamid', 'wacid');
  return { messaging_product: 'whatsapp', calls: [{ id }], success: true };
}

function checkSession(param: Param): void {
  const session = param.object('session');
  session.oneOf('sdp_type', ['offer', 'answer']);
  session.text('sdp', 100_000);
}
