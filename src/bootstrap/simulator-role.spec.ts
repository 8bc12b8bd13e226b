import { loadConfig } from '../infrastructure/config/load-config.js';
import { startSimulatorRole } from './simulator-role.js';

/** Whether the simulator answers at an address of this machine; 127.0.0.2 is one where it listens on every address. */
async function answersAt(settings: Record<string, string>, address: string): Promise<boolean> {
  const env = { NODE_ENV: 'test', SIMULATOR_PORT: '0', ...settings };
  const config = loadConfig({ env, persistSecrets: false });
  const { simulator, url } = await startSimulatorRole(config, { dataDir: null });
  try {
    return await fetch(`http://${address}:${new URL(url).port}/_simulator/health`).then(
      ({ ok }) => ok,
      () => false,
    );
  } finally {
    await simulator.stop();
  }
}

describe('the simulator in a process of Herald', () => {
  it('listens on the loopback address, wherever the API does', async () => {
    expect(await answersAt({ HOST: '0.0.0.0' }, '127.0.0.1')).toBe(true);
    expect(await answersAt({ HOST: '0.0.0.0' }, '127.0.0.2')).toBe(false);
  });

  it('listens elsewhere where that is asked for', async () => {
    expect(await answersAt({ SIMULATOR_HOST: '127.0.0.2' }, '127.0.0.2')).toBe(true);
  });
});
