import { loadConfig } from '../../../src/infrastructure/config/load-config.js';
import { SecretBox } from '../../../src/infrastructure/secrets/secret-box.js';
import { heraldSettings } from './herald.js';

/** Seals as the processes of this run do, so that they can open what was seeded. */
export function benchSecrets(): SecretBox {
  const settings = heraldSettings({
    databaseUrl: 'postgres://unused',
    dataDir: '/unused',
    simulatorUrl: 'http://unused',
  });
  return new SecretBox(loadConfig({ env: settings, persistSecrets: false }));
}
