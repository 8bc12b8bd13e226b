import type { INestApplicationContext } from '@nestjs/common';
import type { Config } from '../infrastructure/config/config.js';
import { AccessLog } from '../infrastructure/operations/logger.js';
import { Demo } from './demo.js';
import { DemoCodes } from './demo-codes.js';
import { writeDemoFile, type DemoFile } from './demo-file.js';
import { showDemoInDocs } from './demo-examples.js';
import { DEMO_RECIPIENTS } from './demo-recipients.js';
import { writeDemoShell } from './demo-shell.js';
import { openDemoWindows } from './demo-windows.js';

/** The demo workspace, with what a newcomer must know of it in DATA_DIR/demo.json. */
export async function makeDemo(
  app: INestApplicationContext,
  config: Config,
  baseUrl: string,
  simulatorUrl: string | null,
): Promise<DemoFile> {
  const { dataDir } = config.process;
  const { organizationId, apiKey, connections } = await new Demo(app, dataDir).prepare();
  const [first, second] = connections;
  if (first === undefined || second === undefined) throw new Error('the demo needs two numbers');
  const codes = await new DemoCodes(app, dataDir).prepare(organizationId);
  if (simulatorUrl !== null) await quietly(app, () => openDemoWindows(app, simulatorUrl, first));
  const demo: DemoFile = {
    base_url: baseUrl,
    docs_url: `${baseUrl}/docs`,
    api_key: apiKey,
    otp_sandbox_key: codes.sandboxKey,
    otp_live_key: codes.liveKey,
    organization_id: organizationId,
    connection_id: first.id,
    phone_number_id: first.phoneNumberId,
    second_connection_id: second.id,
    second_phone_number_id: second.phoneNumberId,
    simulator_url: simulatorUrl,
    recipients: [...DEMO_RECIPIENTS],
  };
  writeDemoFile(dataDir, demo);
  writeDemoShell(dataDir, demo);
  await quietly(app, () => showDemoInDocs(app, config, demo));
  return demo;
}

/** Without a line for each of its own requests. */
async function quietly(app: INestApplicationContext, work: () => Promise<void>): Promise<void> {
  const accessLog = app.get(AccessLog, { strict: false });
  accessLog.paused = true;
  try {
    await work();
  } finally {
    accessLog.paused = false;
  }
}
