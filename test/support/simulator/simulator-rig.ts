import { DEMO_NUMBERS } from '../../../simulator/src/demo-numbers.js';
import { Simulator } from '../../../simulator/src/simulator.js';
import type { SimulatorOptions } from '../../../simulator/src/simulator.types.js';
import { NotificationReceiver } from './notification-receiver.js';
import { SimulatorClient } from './simulator-client.js';

export const APP_SECRET = 'rig-app-secret';
export const PHONE_NUMBER_ID = DEMO_NUMBERS[0]?.phoneNumberId ?? '';
export const SECOND_PHONE_NUMBER_ID = DEMO_NUMBERS[1]?.phoneNumberId ?? '';
export const WABA_ID = DEMO_NUMBERS[0]?.wabaId ?? '';

/** A simulator, a webhook it posts to, and a client. */
export interface SimulatorRig {
  simulator: Simulator;
  receiver: NotificationReceiver;
  client: SimulatorClient;
  url: string;
  stop(): Promise<void>;
}

/** Starts a rig in memory; short gaps, so that tests don't wait. */
export async function startRig(options: Partial<SimulatorOptions> = {}): Promise<SimulatorRig> {
  const receiver = await new NotificationReceiver().start();
  const simulator = new Simulator({
    port: 0,
    host: '127.0.0.1',
    dataDir: null,
    seed: 'rig',
    webhookUrl: receiver.url,
    appSecret: APP_SECRET,
    accessTokens: ['token'],
    numbers: [...DEMO_NUMBERS],
    statusGapMs: 15,
    retryBaseMs: 20,
    ...options,
  });
  const { url } = await simulator.start();
  return {
    simulator,
    receiver,
    client: new SimulatorClient(url, PHONE_NUMBER_ID),
    url,
    stop: async () => {
      await simulator.stop();
      await receiver.stop();
    },
  };
}
