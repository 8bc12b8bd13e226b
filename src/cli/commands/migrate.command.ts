import type { Command } from 'commander';
import { action } from '../runner.js';
import { openDatabase } from '../session.js';

/** `migrate`. */
export function addMigrateCommand(program: Command): void {
  action(program.command('migrate').description('bring the database schema up to date'), async () => {
    // Loaded only for this command: every other one would wait for them.
    const { migrate } = await import('../../infrastructure/database/data-source.js');
    const { migrateQueue } = await import('../../infrastructure/lanes/queue-connection.js');
    // It runs alone before the service, and is given no secret but the database's.
    const { loadConfig } = await import('../../infrastructure/config/load-config.js');
    const database = await openDatabase(loadConfig({ required: ['DATABASE_URL'] }));
    try {
      const ran = await migrate(database.url);
      if (database.config.queue.redisUrl === null) await migrateQueue(database.url);
      const text = ran.length === 0 ? 'The schema is up to date.' : `Ran ${ran.join(', ')}.`;
      return { data: { migrations: ran }, text };
    } finally {
      await database.close();
    }
  });
}
