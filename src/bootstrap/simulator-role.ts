import { Logger } from '@nestjs/common';
import { join } from 'node:path';
import type { Config } from '../infrastructure/config/config.js';
import { DEMO_NUMBERS, DEMO_OTP_NUMBER } from '../../simulator/src/demo-numbers.js';
import { Simulator } from '../../simulator/src/simulator.js';
import type { SimulatorOptions } from '../../simulator/src/simulator.types.js';
import { listenError } from './start-error.js';

/** The name by which this machine reaches a server that listens on `host`; an IPv6 address in brackets. */
export function reachableHost(host: string): string {
  if (host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** Starts the simulator; it holds its notifications until it has the address of the webhook. */
export async function startSimulatorRole(config: Config, options: Partial<SimulatorOptions> = {}) {
  const logger = new Logger('Simulator');
  const { dataDir } = config.process;
  const { apiUrl, simulatorHost: host, simulatorPort: port, appSecrets } = config.whatsapp;
  const simulator = new Simulator({
    port,
    host,
    hostNames: [host],
    publicUrl: apiUrl?.replace(/\/+$/, '') ?? null,
    dataDir: join(dataDir, 'simulator'),
    seed: config.whatsapp.simulatorSeed,
    webhookUrl: null,
    appSecret: appSecrets[0] ?? '',
    accessTokens: null,
    bareNumbers: config.whatsapp.simulatorBareNumbers,
    numbers: [...DEMO_NUMBERS, DEMO_OTP_NUMBER],
    log: (line) => logger.debug(line),
    ...options,
  });
  try {
    const started = await simulator.start();
    return { simulator, url: `http://${reachableHost(host)}:${started.port}` };
  } catch (error) {
    throw listenError(error, host, port, 'SIMULATOR_PORT');
  }
}
