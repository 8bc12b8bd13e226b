import { fileURLToPath } from 'node:url';
import { BrokerProcess } from './broker.js';
import { freePort } from './free-port.js';
import type { Scope } from './scope.js';

export interface SqsMessage {
  body: string;
  messageGroupId?: string;
  messageDeduplicationId?: string;
  messageAttributes: Record<string, { StringValue?: string }>;
}

export interface SqsServer {
  broker: BrokerProcess;
  port: number;
  /** One whose name ends with `.fifo` keeps the order of groups. `port` is that of its clients: the server knows queues by their address. */
  createQueue: (name: string, port: number) => Promise<void>;
  /** What waits in a queue, in its order; nothing is taken. */
  messagesOf: (name: string) => Promise<SqsMessage[]>;
}

/** An SQS server of the package `fauxqs`, whose queues are in the memory of its process. */
export async function startSqs(scope: Scope, region: string): Promise<SqsServer> {
  const port = await freePort();
  const env = {
    FAUXQS_PORT: String(port),
    FAUXQS_LOGGER: 'false',
    FAUXQS_DEFAULT_REGION: region,
    NODE_OPTIONS: '',
  };
  const program = fileURLToPath(new URL('../../../node_modules/fauxqs/dist/server.js', import.meta.url));
  const broker = await BrokerProcess.start(scope, { command: process.execPath, args: [program], env, port });
  const at = `http://127.0.0.1:${port}`;
  return {
    broker,
    port,
    createQueue: async (name, clientPort) => {
      const body = JSON.stringify({
        QueueName: name,
        ...(name.endsWith('.fifo') && { Attributes: { FifoQueue: 'true' } }),
      });
      const authorization = `AWS4-HMAC-SHA256 Credential=test/20260101/${region}/sqs/aws4_request, SignedHeaders=host, Signature=0`;
      const headers = {
        'content-type': 'application/x-amz-json-1.0',
        'x-amz-target': 'AmazonSQS.CreateQueue',
        authorization,
      };
      const answer = await fetch(`http://127.0.0.1:${clientPort}`, { method: 'POST', headers, body });
      if (!answer.ok) throw new Error(`CreateQueue: ${answer.status} ${await answer.text()}`);
    },
    messagesOf: async (name) => {
      const answer = await fetch(`${at}/_fauxqs/queues/${name}`);
      if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
      return ((await answer.json()) as { messages: { ready: SqsMessage[] } }).messages.ready;
    },
  };
}
