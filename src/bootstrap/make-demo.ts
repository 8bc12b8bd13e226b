import type { INestApplicationContext } from '@nestjs/common';
import type { Config } from '../platform/config/config.js';
import { Demo } from './demo.js';
import { writeDemoFile, type DemoFile } from './demo-file.js';
import { DEMO_RECIPIENTS } from './demo-recipients.js';
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
  if (simulatorUrl !== null) await openDemoWindows(app, simulatorUrl, first);
  const demo: DemoFile = {
    base_url: baseUrl,
    docs_url: `${baseUrl}/docs`,
    api_key: apiKey,
    organization_id: organizationId,
    connection_id: first.id,
    phone_number_id: first.phoneNumberId,
    second_connection_id: second.id,
    second_phone_number_id: second.phoneNumberId,
    simulator_url: simulatorUrl,
    recipients: [...DEMO_RECIPIENTS],
  };
  writeDemoFile(dataDir, demo);
  return demo;
}
