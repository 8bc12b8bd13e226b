import { Counters } from '../../src/infrastructure/operations/counters.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { waitFor } from '../support/wait-for.js';
import { Collector } from './collector.js';
import { send, stageOf, untilRead } from './traced-messages.js';

let receiver: Receiver;
beforeAll(async () => {
  receiver = await Receiver.start();
});
afterAll(() => receiver?.stop());

it.each([
  ['refuses connections', async () => ({ url: 'http://127.0.0.1:1', stop: () => Promise.resolve() })],
  [
    'never answers',
    async () => {
      const collector = await Collector.start();
      collector.answers = false;
      return collector;
    },
  ],
])('goes on undisturbed where the collector %s', async (_, start) => {
  const collector = await start();
  const stage = await stageOf(
    {
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_TIMEOUT: '100',
      OTEL_BSP_MAX_QUEUE_SIZE: '2',
      // Of one workspace as many reads are served at once as a third of the connections.
      DATABASE_POOL_SIZE: '30',
      LOG_LEVEL: 'fatal',
      // A stop that waits for the collector outlasts the test.
      SHUTDOWN_TIMEOUT_MS: '300000',
    },
    receiver,
  );
  try {
    const { phone } = await stage.test.openWindow(stage.sender);
    const id = await send(stage, phone);
    await untilRead(receiver, id);
    const counters = stage.test.app.get(Counters);
    await waitFor(
      async () => {
        await Promise.all(Array.from({ length: 10 }, () => stage.sender.api.get('/messages?limit=1')));
        const { trace_spans_failed: failed = 0, trace_spans_dropped: dropped = 0 } = counters.snapshot();
        return failed > 0 && dropped > 0;
      },
      { what: 'a failed export, and spans that had no place in the queue meanwhile' },
    );
    expect(counters.snapshot().trace_spans_exported ?? 0).toBe(0);
  } finally {
    await stage.test.stop();
    await collector.stop();
  }
});
