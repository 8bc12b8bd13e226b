import { jsonAnswer, SUCCESS } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { isObject } from '../messages/checks.js';
import { messageJson } from '../messages/message-log.js';
import type { SimulatorContext } from '../simulator-context.js';
import { controlBody, ControlError, controlHandler, optionalNumber, optionalText, textField } from './control-input.js';
import { faultsJson, readFaults } from './faults.js';

/** Registers the control calls under `/_simulator`, but for inbound messages. */
export function registerControlRoutes(context: SimulatorContext): void {
  const { router, numbers, messages } = context;
  const on = (method: string, path: string, handler: Parameters<typeof controlHandler>[0]) =>
    router.plain(method, `/_simulator/${path}`, controlHandler(handler));

  on('GET', 'health', () => jsonAnswer({ status: 'ok' }));
  on('GET', 'count', () =>
    jsonAnswer({
      count: messages.count,
      notifications: context.pendingNotifications(),
      broken: context.brokenAnswers.counts,
    }),
  );
  on('GET', 'messages', (call) => listMessages(context, call));
  on('GET', 'faults', () => jsonAnswer(faultsJson(context.faults)));
  on('POST', 'faults', (call) => {
    const { down_for_ms: downForMs, ...faults } = controlBody(call);
    const closedMs = optionalNumber({ down_for_ms: downForMs }, 'down_for_ms', 1, 600_000);
    context.applyFaults(readFaults(faults));
    if (closedMs !== undefined) context.closePortFor(closedMs);
    return jsonAnswer(faultsJson(context.faults));
  });
  on('POST', 'reset', () => {
    context.reset();
    return SUCCESS;
  });
  on('POST', 'notify', (call) => {
    context.postRaw(readNotification(context, controlBody(call)));
    return SUCCESS;
  });
  on('GET', 'numbers', () =>
    jsonAnswer({
      data: numbers.all().map((number) => ({
        phone_number_id: number.phoneNumberId,
        waba_id: number.wabaId,
        display_phone_number: number.displayPhoneNumber,
        verified_name: number.verifiedName,
      })),
    }),
  );
  on('POST', 'numbers', (call) => {
    const body = controlBody(call);
    context.registerNumber({
      phoneNumberId: idField(body, 'phone_number_id'),
      wabaId: idField(body, 'waba_id'),
      displayPhoneNumber: textField(body, 'display_phone_number'),
      verifiedName: optionalText(body, 'verified_name') ?? 'Simulated business',
    });
    return SUCCESS;
  });
}

function idField(body: Record<string, unknown>, name: string): string {
  const id = textField(body, name);
  if (!/^\d{1,20}$/.test(id)) throw new ControlError(`"${name}" must be digits.`);
  return id;
}

function listMessages(context: SimulatorContext, call: Call) {
  const { query } = call;
  const limit = Number(query.get('limit') ?? 1000);
  if (!Number.isInteger(limit) || limit < 1) throw new ControlError('"limit" must be a whole number from 1.');
  const page = context.messages.page({
    to: query.get('to') ?? undefined,
    callback: query.get('callback') ?? undefined,
    after: query.get('after') ?? undefined,
    limit,
  });
  const paging = JSON.stringify({ after: page.cursor, has_more: page.hasMore });
  return { status: 200, body: `{"data":[${page.messages.map(messageJson).join(',')}],"paging":${paging}}` };
}

/** `{body}` is posted as it is; `{value, field, waba_id}` is put into an envelope first. */
function readNotification(context: SimulatorContext, given: Record<string, unknown>): object {
  if (isObject(given.body)) return given.body;
  if (!isObject(given.value)) throw new ControlError('Send "body" (a whole notification) or "value" (of one change).');
  const metadata = isObject(given.value.metadata) ? given.value.metadata : {};
  const number = context.numbers.get(String(metadata.phone_number_id)) ?? context.numbers.all()[0];
  const field = optionalText(given, 'field') ?? 'messages';
  return {
    object: 'whatsapp_business_account',
    entry: [
      {
        id: optionalText(given, 'waba_id') ?? number?.wabaId ?? '0',
        // Only the management fields carry the entry's time.
        ...(field === 'messages' ? {} : { time: Math.floor(Date.now() / 1000) }),
        changes: [{ value: given.value, field }],
      },
    ],
  };
}
