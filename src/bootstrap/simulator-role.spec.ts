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

  it.each([
    ['country', '14915112345678'],
    ['as-is', '4915112345678'],
  ])('takes a number without + by the setting %s', async (setting, expected) => {
    const env = { NODE_ENV: 'test', SIMULATOR_PORT: '0', SIMULATOR_BARE_NUMBERS: setting };
    const config = loadConfig({ env, persistSecrets: false });
    const { simulator, url } = await startSimulatorRole(config, { dataDir: null });
    try {
      const body = { messaging_product: 'whatsapp', to: '4915112345678', text: { body: 'Hello' } };
      const answer = await fetch(`${url}/v26.0/106540352242922/messages?access_token=t`, {
        method: 'POST',
        body: JSON.stringify(body),
      });
      expect(await answer.json()).toMatchObject({ contacts: [{ wa_id: expected }] });
    } finally {
      await simulator.stop();
    }
  });
});
