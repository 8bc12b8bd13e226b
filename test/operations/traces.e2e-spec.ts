import { jest } from '@jest/globals';
import { randomBytes, randomUUID } from 'node:crypto';
import { HeraldLogger } from '../../src/infrastructure/operations/logger.js';
import { Tracing } from '../../src/infrastructure/operations/tracing.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { waitFor } from '../support/wait-for.js';
import { Collector, type CollectedSpan } from './collector.js';
import { deliveriesOf, send, STATES, stageOf, TEXT, untilRead, type Stage } from './traced-messages.js';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.start();
});
afterAll(() => receiver?.stop());

describe('with a collector', () => {
  let collector: Collector;
  let stage: Stage;
  let lines: Readonly<Record<string, unknown>>[];

  beforeAll(async () => {
    collector = await Collector.start();
    lines = [];
    jest.spyOn(HeraldLogger.prototype, 'access').mockImplementation((fields) => void lines.push(fields));
    stage = await stageOf(
      {
        LOG_LEVEL: 'info',
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
        OTEL_EXPORTER_OTLP_HEADERS: 'api-key=abc%20d',
        OTEL_SERVICE_NAME: 'herald-test',
        OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=ci',
      },
      receiver,
    );
  });
  afterAll(async () => {
    await stage?.test.stop();
    await collector?.stop();
    jest.restoreAllMocks();
  });

  const named = (spans: readonly CollectedSpan[], name: string) => spans.filter((span) => span.name === name);

  it('follows a message from its request to the last webhook delivery in one trace', async () => {
    const { sender, test } = stage;
    const { phone } = await test.openWindow(sender);
    const [traceId, caller] = [randomBytes(16).toString('hex'), randomBytes(8).toString('hex')];
    const requestId = `order-${randomUUID()}`;
    const id = await send(stage, phone, { traceparent: `00-${traceId}-${caller}-01`, 'x-request-id': requestId });
    await untilRead(receiver, id);
    await waitFor(() => named(collector.ofTrace(traceId), 'deliver webhook').length === STATES);
    await waitFor(() => named(collector.ofTrace(traceId), 'report message').length === STATES - 1);
    const spans = collector.ofTrace(traceId);

    const [request] = named(spans, 'POST /api/v1/messages');
    expect(request).toMatchObject({
      parentSpanId: caller,
      failed: false,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/api/v1/messages',
        'http.response.status_code': 202,
        'herald.request_id': requestId,
        'herald.organization_id': sender.workspace.id,
      },
      resource: { 'service.name': 'herald-test', 'deployment.environment.name': 'ci' },
    });
    const isChild = (span: CollectedSpan | undefined) => span?.parentSpanId === request?.spanId;
    for (const name of ['commit accept', 'claim messages', 'send message', 'report message', 'deliver webhook']) {
      expect({ name, spans: named(spans, name).map(isChild) }).toMatchObject({
        name,
        spans: expect.arrayContaining([true]),
      });
      expect(named(spans, name).every(isChild)).toBe(true);
    }
    const [sent] = named(spans, 'send message');
    expect(sent?.attributes).toMatchObject({ 'herald.message_id': id, 'herald.attempt': 1 });
    expect(named(spans, 'POST /messages')).toMatchObject([
      {
        parentSpanId: sent?.spanId,
        attributes: { 'herald.outcome': 'accepted', 'http.response.status_code': 200, 'server.address': '127.0.0.1' },
      },
    ]);

    const statuses = named(spans, 'report message').map(({ attributes }) => String(attributes['herald.status']));
    expect(statuses.sort()).toEqual(['delivered', 'read', 'sent']);
    for (const { links } of named(spans, 'report message')) {
      const bringer = collector.spans.find((span) => span.spanId === links[0]?.spanId);
      expect(bringer).toMatchObject({ name: 'POST /platform/whatsapp/webhook', traceId: links[0]?.traceId });
      expect(bringer?.traceId).not.toBe(traceId);
    }

    const delivered = named(spans, 'deliver webhook');
    const headers = delivered.map(({ spanId }) => `00-${traceId}-${spanId}-01`).sort();
    expect(
      deliveriesOf(receiver, id)
        .map((delivery) => String(delivery.headers.traceparent))
        .sort(),
    ).toEqual(headers);
    expect(delivered.every(({ attributes }) => attributes['http.response.status_code'] === 204)).toBe(true);
    expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'api-key': 'abc d' } });
  });

  it('begins a trace where the caller names none, or names one in a form that cannot be read', async () => {
    const { phone } = await stage.test.openWindow(stage.sender);
    const id = await send(stage, phone, { traceparent: '00-00000000000000000000000000000000-0000000000000000-01' });
    await untilRead(receiver, id);
    const [, traceId = ''] = String(deliveriesOf(receiver, id)[0]?.headers.traceparent).split('-');
    expect(traceId).toMatch(/^[0-9a-f]{32}$/);
    await waitFor(() => named(collector.ofTrace(traceId), 'POST /api/v1/messages').length === 1);
    expect(named(collector.ofTrace(traceId), 'POST /api/v1/messages')[0]?.parentSpanId).toBeFalsy();
  });

  it('links a batch that serves many with each of them', async () => {
    const { phone } = await stage.test.openWindow(stage.sender);
    const batch = await waitFor(
      async () => {
        await Promise.all(Array.from({ length: 30 }, () => send(stage, phone)));
        return collector.spans.find(
          (span) => span.name === 'commit accept' && Number(span.attributes['herald.count']) > 1,
        );
      },
      { what: 'a batch of several messages' },
    );
    const others = Number(batch?.attributes['herald.count']) - 1;
    expect(batch?.links).toHaveLength(others);
    for (const { traceId, spanId } of batch?.links ?? []) {
      await waitFor(() => collector.spans.some((span) => span.spanId === spanId));
      const request = collector.spans.find((span) => span.spanId === spanId);
      expect(request).toMatchObject({ name: 'POST /api/v1/messages', traceId });
      expect(request?.links).toContainEqual({ traceId: batch?.traceId, spanId: batch?.spanId });
    }
  });

  it("goes on with the platform's request where a customer writes", async () => {
    const { sender, test } = stage;
    const { phone } = await test.openWindow(sender);
    const before = receiver.received.length;
    await fetch(`${test.simulatorUrl}/_simulator/inbound`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ phone_number_id: sender.connection.phoneNumberId, from: phone, text: TEXT }),
    });
    const delivery = await waitFor(() =>
      receiver.received.slice(before).find(({ body }) => body.includes('"message.received"')),
    );
    const [, traceId = ''] = String(delivery?.headers.traceparent).split('-');
    const request = await waitFor(() => named(collector.ofTrace(traceId), 'POST /platform/whatsapp/webhook')[0]);
    expect(request.parentSpanId).toBeFalsy();
  });

  it('goes on in the delivery of a test event', async () => {
    const traceId = randomBytes(16).toString('hex');
    const headers = { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-01` };
    await stage.sender.api.post('/webhook/test', undefined, { headers });
    const delivery = await waitFor(() =>
      receiver.received.find(({ headers: { traceparent } }) => String(traceparent).includes(traceId)),
    );
    expect(delivery.body).toContain('webhook.test');
  });

  it('records nothing of a message whose caller does not record', async () => {
    const { phone } = await stage.test.openWindow(stage.sender);
    const traceId = randomBytes(16).toString('hex');
    const id = await send(stage, phone, { traceparent: `00-${traceId}-${randomBytes(8).toString('hex')}-00` });
    await untilRead(receiver, id);
    expect(deliveriesOf(receiver, id).map(({ headers }) => headers.traceparent)).toEqual([...Array(STATES)]);
    expect(collector.ofTrace(traceId)).toEqual([]);
    const rows = await stage.test.database.query('select trace_context from message where id = $1', [id]);
    expect(rows).toEqual([{ trace_context: null }]);
  });

  it('relates the request id of an error with its trace, in the line of the request and in the span', async () => {
    const { status, body } = await stage.sender.api.post('/messages', {});
    expect(status).toBe(400);
    const line = lines.find(({ request_id: id }) => id === body.error.request_id);
    const traceId = String(line?.trace_id);
    await waitFor(() => collector.ofTrace(traceId).length === 1);
    expect(collector.ofTrace(traceId)).toMatchObject([
      { attributes: { 'herald.request_id': body.error.request_id, 'http.response.status_code': 400 }, failed: false },
    ]);
  });

  it('contains no contents, numbers or keys, and does not record health and metrics requests', async () => {
    const { sender, test } = stage;
    const { phone } = await test.openWindow(sender);
    // A caller may put anything there.
    const id = await send(stage, phone, { 'x-request-id': phone });
    await untilRead(receiver, id);
    await test.api.get('/health/ready');
    const isLast = ({ attributes }: CollectedSpan) =>
      attributes['herald.message_id'] === id && attributes['herald.status'] === 'read';
    await waitFor(() => collector.spans.some(isLast), { what: 'the span of the last report' });
    expect(collector.text).toContain(id);
    for (const secret of [TEXT, phone, sender.key.text, sender.key.text.slice(-12), sender.connection.phoneNumber]) {
      expect(collector.text.includes(secret)).toBe(false);
    }
    expect(collector.spans.some(({ attributes }) => String(attributes['http.route']).startsWith('/health'))).toBe(
      false,
    );
  });
});

it('writes protobuf by default, and sends what is left when it stops', async () => {
  const collector = await Collector.start();
  try {
    const stage = await stageOf({ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/in/traces` }, receiver);
    await stage.sender.api.get('/messages');
    await stage.test.stop();
    expect(collector.requests.map(({ path }) => path)).toContain('/in/traces');
    expect(collector.requests[0]?.headers['content-type']).toBe('application/x-protobuf');
    expect(collector.text).toContain('GET /api/v1/messages');
  } finally {
    await collector.stop();
  }
});

describe('without a collector', () => {
  it('writes nothing, passes nothing on and has nothing of the SDK', async () => {
    const stage = await stageOf({}, receiver);
    try {
      const { phone } = await stage.test.openWindow(stage.sender);
      const id = await send(stage, phone, {
        traceparent: `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`,
      });
      await untilRead(receiver, id);
      expect(deliveriesOf(receiver, id).map(({ headers }) => headers.traceparent)).toEqual([...Array(STATES)]);
      const { database } = stage.test;
      const rows = await database.query(
        `select trace_context from message where id = $1 union all select trace_context from webhook_event
         where data ->> 'message_id' = $1::text`,
        [id],
      );
      expect(rows).toEqual([...Array(STATES + 1)].map(() => ({ trace_context: null })));
      expect(stage.test.app.get(Tracing)).toBe(Tracing.OFF);
    } finally {
      await stage.test.stop();
    }
  });
});
