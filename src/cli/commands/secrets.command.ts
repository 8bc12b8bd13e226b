import type { Command } from 'commander';
import { table } from '../answer.js';
import { doesWithServices } from '../runner.js';

const LATER =
  'Take the older keys out of ENCRYPTION_KEYS after an hour: codes and links to files that were made with them live until then.';

/** `secrets rotate`. */
export function addSecretsCommands(program: Command): void {
  const secrets = program.command('secrets').description('stored secrets and the keys that encrypt them');
  doesWithServices(
    secrets.command('rotate').description('encrypt every stored secret again under the current key; service may run'),
    async (services) => {
      const rotation = services.secretRotation;
      const columns = await rotation.rotate();
      const unreadable = columns.reduce((sum, column) => sum + column.unreadable, 0);
      const rows = columns.map((each) => [each.table, String(each.resealed), String(each.unreadable)]);
      const hint =
        unreadable > 0 ? 'No key in ENCRYPTION_KEYS opens some of them: add the key that sealed them.' : LATER;
      return {
        data: { version: rotation.version, tables: columns },
        text: `${table(['TABLE', `UNDER KEY ${rotation.version} NOW`, 'UNREADABLE'], rows, '')}\n${hint}`,
        failed: unreadable > 0,
      };
    },
  );
}
