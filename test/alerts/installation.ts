import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { FakeClock } from '../faults/faketime.js';
import { startCaddy } from '../support/rig/caddy.js';
import { Receiver } from '../faults/webhook-receiver.js';
import { temporaryFolder } from '../support/rig/folder.js';
import type { HeraldPlace, HeraldProcess } from '../support/rig/herald.js';
import { PgBouncer } from '../support/rig/pgbouncer.js';
import { BenchPostgres } from '../support/rig/postgres.js';
import { Prometheus } from '../support/rig/prometheus.js';
import { recipientNumber } from '../support/rig/recipients.js';
import { BenchRedis } from '../support/rig/redis.js';
import { S3Server } from '../support/rig/s3.js';
import type { Scope } from '../support/rig/scope.js';
import { seedConversations } from '../support/rig/seed-messages.js';
import { SmallDisk } from '../support/rig/small-disk.js';
import { Stage } from '../support/rig/stage.js';
import { pause } from '../support/rig/wait.js';
import type { SeededWorkspace } from '../support/rig/workspace.js';
import { freePort } from '../support/rig/free-port.js';
import { post } from '../support/rig/send-text.js';

const RECIPIENTS = 50;
const BETWEEN_MS = 250;
const REQUEST_MS = 10_000;
const DISK_MIB = 320;

/** What an installation has beside PostgreSQL. */
export interface Parts {
  redis?: boolean;
  s3?: boolean;
  pgbouncer?: boolean;
  /** Caddy in front of the api, as deploy/Caddyfile has it. */
  caddy?: boolean;
  /** A media folder of its own, which may be taken away. */
  mediaFolder?: boolean;
  /** PostgreSQL on a small disk. */
  smallDisk?: boolean;
  /** A clock of its own for the first worker's host. */
  clock?: boolean;
}

/** A whole Herald with traffic, watched by a Prometheus of its own. */
export interface Installation {
  stage: Stage;
  postgres: BenchPostgres;
  api: HeraldProcess;
  workers: readonly [HeraldProcess, HeraldProcess];
  workspace: SeededWorkspace;
  /** The customer's server. */
  receiver: Receiver;
  prometheus: Prometheus;
  redis: BenchRedis | null;
  s3: S3Server | null;
  pgbouncer: PgBouncer | null;
  disk: SmallDisk | null;
  mediaFolder: string | null;
  clock: FakeClock | null;
}

/** @throws LeftOut where this machine lacks something */
export async function install(scope: Scope, parts: Parts): Promise<Installation> {
  const disk = parts.smallDisk === true ? await SmallDisk.mount(scope, 'alerts', DISK_MIB) : null;
  const postgres = await BenchPostgres.start(scope, disk?.folder);
  const redis = parts.redis === true ? await BenchRedis.start(scope) : null;
  const s3 = parts.s3 === true ? await S3Server.start(scope) : null;
  const mediaFolder = parts.mediaFolder === true ? join(temporaryFolder(scope, 'alerts-media'), 'media') : null;
  if (mediaFolder !== null) mkdirSync(mediaFolder);
  const clock = parts.clock === true ? FakeClock.create(temporaryFolder(scope, 'alerts-clock'), 'worker', '+0s') : null;
  const receiver = await Receiver.start();
  scope.defer(() => receiver.stop());
  const apiPort = await freePort();
  const stage = await Stage.set(scope, postgres, 'alerts', {
    simulator: { statuses: 'on', webhookUrl: `http://127.0.0.1:${apiPort}/platform/whatsapp/webhook` },
    settings: {
      WEBHOOK_ALLOW_PRIVATE_TARGETS: 'true',
      ...(redis === null ? {} : { REDIS_URL: redis.url }),
      ...s3?.settings(),
      ...(mediaFolder === null ? {} : { MEDIA_DIR: mediaFolder }),
    },
  });
  const url = stage.database.url;
  const pgbouncer = parts.pgbouncer === true ? await PgBouncer.ofDeploy(scope, url) : null;
  const via: Partial<HeraldPlace> =
    pgbouncer === null ? {} : { databaseUrl: pgbouncer.through(url), settings: { DATABASE_DIRECT_URL: url } };
  const workspace = await stage.workspace();
  await seedConversations(stage.database.pool, workspace.connections[0], RECIPIENTS);
  const api = await stage.herald('api', { port: apiPort, ...via });
  const first = { ...via, settings: { ...via.settings, ...clock?.settings } };
  const workers = [await stage.herald('worker', first), await stage.herald('worker', via)] as const;
  await subscribe(api, workspace, receiver);
  const caddy = parts.caddy === true ? await startCaddy(scope, ['127.0.0.1'], apiPort) : null;
  sendSteadily(scope, caddy?.url ?? api.url, workspace);
  const prometheus = await Prometheus.start(scope, [api, ...workers], caddy?.metricsPort);
  const servers = { postgres, receiver, prometheus, redis, s3, pgbouncer };
  return { ...servers, stage, api, workers, workspace, disk, mediaFolder, clock };
}

async function subscribe(api: HeraldProcess, { apiKey }: SeededWorkspace, receiver: Receiver): Promise<void> {
  const response = await fetch(`${api.url}/api/v1/webhook`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url() }),
  });
  if (response.status !== 200) throw new Error(`PUT /webhook answered ${response.status}: ${await response.text()}`);
  receiver.keep = false;
}

/** Texts from one caller who does not mind refusals, until the scope closes. */
function sendSteadily(scope: Scope, url: string, { apiKey, connections }: SeededWorkspace): void {
  let stopped = false;
  const sending = (async () => {
    for (let n = 0; !stopped; n++) {
      const to = `+${recipientNumber(n % RECIPIENTS)}`;
      const body = { connection_id: connections[0].id, to, type: 'text', text: { body: 'Hello' } };
      await post(`${url}/api/v1/messages`, apiKey, body, REQUEST_MS).catch(() => undefined);
      await pause(BETWEEN_MS);
    }
  })();
  scope.defer(() => {
    stopped = true;
    return sending;
  });
}
