import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { connect, type ConfirmChannel } from 'amqplib';
import { BrokerProcess } from './broker.js';
import { freePort } from './free-port.js';
import { temporaryFolder } from './folder.js';
import type { Scope } from './scope.js';

/** Debian's scripts of this name outside demand another user. */
const PROGRAMS = '/usr/lib/rabbitmq/bin';
const run = promisify(execFile);
const CONTROL_MS = 60_000;

export interface Rabbitmq {
  broker: BrokerProcess;
  port: number;
  /** `rabbitmqctl`, on this node. */
  control: (...args: string[]) => Promise<void>;
}

/** A RabbitMQ of its own, with the user guest, whose queues outlive its process. */
export async function startRabbitmq(scope: Scope): Promise<Rabbitmq> {
  const [port, distPort, namePort] = [await freePort(), await freePort(), await freePort()];
  const folder = temporaryFolder(scope, 'rabbitmq');
  writeFileSync(join(folder, 'rabbitmq.conf'), 'listeners.tcp.1 = 127.0.0.1:' + port + '\nloopback_users = none\n');
  writeFileSync(join(folder, 'enabled_plugins'), '[].');
  const env = {
    ...process.env,
    HOME: folder,
    ERL_EPMD_PORT: String(namePort),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    RABBITMQ_ALLOW_INPUT: 'true',
    RABBITMQ_CONF_ENV_FILE: '/dev/null',
    RABBITMQ_CONFIG_FILE: join(folder, 'rabbitmq.conf'),
    RABBITMQ_DIST_PORT: String(distPort),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(folder, 'enabled_plugins'),
    RABBITMQ_LOG_BASE: folder,
    RABBITMQ_LOGS: '-',
    RABBITMQ_MNESIA_BASE: folder,
    RABBITMQ_NODENAME: `herald${port}@localhost`,
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: '-noinput',
  };
  // The service of names is a program of its own, which the node would leave behind.
  await BrokerProcess.start(scope, { command: 'epmd', args: ['-port', String(namePort)], env, port: namePort });
  const control = async (...args: string[]): Promise<void> => {
    await run(join(PROGRAMS, 'rabbitmqctl'), args, { env, timeout: CONTROL_MS });
  };
  const isReady = (): Promise<boolean> =>
    control('await_startup').then(
      () => true,
      () => false,
    );
  const command = join(PROGRAMS, 'rabbitmq-server');
  const broker = await BrokerProcess.start(scope, { command, args: [], env, port, isReady });
  return { broker, port, control };
}

/** Work on a channel of a connection of its own, as the user guest. */
export async function withChannel<T>(
  { port }: Pick<Rabbitmq, 'port'>,
  work: (channel: ConfirmChannel) => Promise<T>,
): Promise<T> {
  const connection = await connect(`amqp://guest:guest@127.0.0.1:${port}`);
  try {
    return await work(await connection.createConfirmChannel());
  } finally {
    await connection.close();
  }
}
