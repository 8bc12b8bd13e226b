import { databaseClock } from '../../../common/clock.js';
import { newId } from '../../../common/ids.js';
import { newWebhookSecret, signDelivery } from '../../../common/standard-webhooks.js';
import { exampleOf } from '../dto/event.docs.js';
import { EVENT_TYPES, TEST_EVENT, type EventType } from '../webhook.types.js';

/** The checks of a conformance run, in order. */
export const CHECKS = [
  'kind',
  'repeat',
  'disorder',
  'rotated_secret',
  'later_version',
  'any_text',
  'large',
  'unknown_kind',
  'unknown_field',
  'unknown_content',
  'wrong_secret',
  'changed_body',
  'no_signature',
  'old_timestamp',
  'future_timestamp',
] as const;
export type CheckName = (typeof CHECKS)[number];

/** One delivery, and the answer that a receiver must give. */
export interface Probe {
  check: CheckName;
  eventType: string;
  /** In words, for the table of results. */
  title: string;
  expected: 'success' | 'refusal';
  /** Called when it is sent, because the signature includes the time. */
  make: () => { headers: Record<string, string>; body: string };
}

export interface ProbeContext {
  organizationId: string;
  /** The secrets that sign deliveries, the current one first. */
  secrets: readonly string[];
  /** A cursor at the end of the events, so that a receiver which stores it misses nothing. */
  cursor: string;
}

/** More than the default limits of many frameworks, 100 KiB; messages with many contacts or products are as long. */
const LARGE_BYTES = 256 * 1_024;
/** More than the five minutes that a receiver allows. */
const AWAY_SECONDS = 3_600;

const now = (): number => Math.floor(databaseClock.now() / 1_000);

function signed(secrets: readonly string[], id: string, body: string, seconds = now()): Record<string, string> {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': signDelivery(secrets, id, seconds, body),
  };
}

/** All deliveries of a run; each has `test: true` in its data, and each event an id of its own. */
export function probesOf({ organizationId, secrets, cursor }: ProbeContext): Probe[] {
  const createdAt = new Date(databaseClock.now()).toISOString();
  const event = (type: string, data: Record<string, unknown>, further: Record<string, unknown> = {}) => {
    const id = newId();
    const envelope = { id, type, created_at: createdAt, organization_id: organizationId, cursor };
    return { id, body: JSON.stringify({ ...envelope, data: { ...data, test: true }, ...further }) };
  };
  const example = (type: EventType, changes: Record<string, unknown> = {}, further?: Record<string, unknown>) =>
    event(type, { ...exampleOf(type), ...changes }, further);
  const success = (
    check: CheckName,
    eventType: string,
    title: string,
    { id, body }: { id: string; body: string },
    headers: () => Record<string, string> = () => signed(secrets, id, body),
  ): Probe => ({ check, eventType, title, expected: 'success', make: () => ({ headers: headers(), body }) });
  const refusal = (
    check: CheckName,
    title: string,
    headers: (id: string, body: string) => Record<string, string>,
  ): Probe => {
    const { id, body } = example(TEST_EVENT);
    const make = () => ({ headers: headers(id, body), body });
    return { check, eventType: TEST_EVENT, title, expected: 'refusal', make };
  };

  const received = exampleOf('message.received');
  const message = received.message as Record<string, unknown>;
  const withText = (text: string) =>
    example('message.received', { message: { ...message, body: text }, content: { body: text } });
  const repeated = example('message.status.updated');
  const rotated = example(TEST_EVENT);
  const versioned = example(TEST_EVENT);
  const kinds: EventType[] = [TEST_EVENT, ...EVENT_TYPES.filter((type) => type !== TEST_EVENT)];
  return [
    ...kinds.map((type) => success('kind', type, `An event of the kind ${type}`, example(type))),
    success('repeat', 'message.status.updated', 'An event, the first time', repeated),
    success('repeat', 'message.status.updated', 'The same event again, under the same id', repeated),
    ...['read', 'sent'].map((status, index) =>
      success(
        'disorder',
        'message.status.updated',
        index === 0 ? 'The last change of a message' : 'An earlier change of it, after the last',
        example('message.status.updated', { status, sequence: 4 - 2 * index }),
      ),
    ),
    success('rotated_secret', TEST_EVENT, 'Two signatures, as after a rotation; yours is the second', rotated, () =>
      signed([newWebhookSecret(), ...secrets], rotated.id, rotated.body),
    ),
    success('later_version', TEST_EVENT, 'A signature of a later version before yours', versioned, () => {
      const headers = signed(secrets, versioned.id, versioned.body);
      return { ...headers, 'webhook-signature': `v9,bGF0ZXI= ${headers['webhook-signature']}` };
    }),
    success(
      'any_text',
      'message.received',
      'Text in other scripts, with emoji and control characters',
      withText('Größe ✓ 👩‍👩‍👧 مرحبا  "\\/\u2028</script>'),
    ),
    success('large', 'message.received', `A body of ${LARGE_BYTES / 1_024} KiB`, withText('x'.repeat(LARGE_BYTES / 2))),
    success(
      'unknown_kind',
      'example.later_kind',
      'An event of a kind that does not exist yet',
      event('example.later_kind', { note: 'A later kind.' }),
    ),
    success(
      'unknown_field',
      'message.received',
      'Fields that do not exist yet',
      example('message.received', { later_field: { nested: [1, null] } }, { later_field: 'A later field.' }),
    ),
    success(
      'unknown_content',
      'message.received',
      'A message of a type that does not exist yet',
      example('message.received', {
        message: { ...message, type: 'later_type', body: null },
        content: { later: true },
      }),
    ),
    refusal('wrong_secret', 'Signed with another secret', (id, body) => signed([newWebhookSecret()], id, body)),
    refusal('changed_body', 'Signed by Herald, and its body changed afterwards', (id, body) =>
      signed(secrets, id, `${body} `),
    ),
    refusal('no_signature', 'Not signed at all', () => ({})),
    refusal('old_timestamp', 'Recorded and sent again an hour later', (id, body) =>
      signed(secrets, id, body, now() - AWAY_SECONDS),
    ),
    refusal('future_timestamp', 'Dated an hour ahead', (id, body) => signed(secrets, id, body, now() + AWAY_SECONDS)),
  ];
}
