import type { Command } from 'commander';
import type { Config } from '../../infrastructure/config/config.js';
import type { DatabaseLink } from '../../infrastructure/database/pooler.js';
import type { RanMigration } from '../../infrastructure/database/schema-state.js';
import { confirm, YES_OPTION } from '../arguments.js';
import { type Answer, table } from '../output.js';
import { localAction, UsageError } from '../runner.js';
import { openDatabase } from '../session.js';

interface MigrateCommandOptions {
  status?: boolean;
  to?: string;
  down?: boolean;
  dryRun?: boolean;
  yes?: boolean;
}

/** `migrate`: brings the schema up to date, to another place in the list, or one step back. */
export function addMigrate(program: Command): void {
  const command = program
    .command('migrate')
    .description('bring the database schema up to date, or back to that of an earlier release')
    .option('--status', 'list the migrations and the processes that are connected, and change nothing')
    .option('--to <name>', 'up or down to this migration; or a release, such as 0.2.0: to its last one')
    .option('--down', 'one migration back; with --to back to that one')
    .option('--dry-run', 'say what would run and what would be lost, and change nothing')
    .option(...YES_OPTION);
  localAction<MigrateCommandOptions>(command, 'it changes the tables of the database', async (options) => {
    if (options.status === true && (options.to !== undefined || options.down === true || options.dryRun === true)) {
      throw new UsageError('--status stands alone: it only lists');
    }
    // Loaded here only, so that other commands need not wait for it. This command runs before the service, with no
    // secret except the database's.
    const { loadConfig } = await import('../../infrastructure/config/load-config.js');
    const { requireDatabase } = await import('../../bootstrap/database.js');
    const { sessionLink } = await import('../../infrastructure/database/pooler.js');
    const database = await openDatabase(loadConfig({ required: ['DATABASE_URL'] }));
    try {
      const settings: Config['database'] = database.config.database;
      await requireDatabase(settings);
      const link = sessionLink(settings);
      return await (options.status === true ? statusOf(link) : change(link, options));
    } finally {
      await database.close();
    }
  });
}

async function change(link: DatabaseLink, options: MigrateCommandOptions): Promise<Answer> {
  const { goBack, lossesOf, migrate, readRan, requireKnown } = await import('../../infrastructure/database/migrate.js');
  const { planTo } = await import('../../infrastructure/database/migration-plan.js');
  const { migrations } = await import('../../../migrations/all.js');
  const ran = await readRan(link.url);
  if (options.to !== undefined || options.down === true) requireKnown(ran, migrations);
  const to = await placeOf(options, ran);
  const plan = planTo(to, ran, migrations);
  if (options.down === true && plan.up.length > 0) {
    throw new UsageError(`${to} did not run there: without --down this goes up to it`);
  }
  const losses: string[] = [];
  for (const migration of plan.down) {
    for (const loss of await lossesOf(link.url, migration)) losses.push(`${migration.name}: ${loss}`);
  }
  const names = { up: plan.up.map(({ name }) => name), down: plan.down.map(({ name }) => name) };
  if (options.dryRun === true) {
    const lines = [
      ...names.down.map((name) => `Would revert ${name}.`),
      ...losses.map((loss) => `  lost: ${loss}`),
      ...names.up.map((name) => `Would run ${name}.`),
    ];
    return {
      data: { migrations: names.up, reverted: names.down, lost: losses, dry_run: true },
      text: lines.length === 0 ? 'The schema is there already.' : lines.join('\n'),
    };
  }
  const say = (line: string): void => void process.stderr.write(`${line}\n`);
  if (names.down.length > 0) {
    const lost = losses.length === 0 ? 'No table or column is lost.' : `Lost: ${losses.join('; ')}.`;
    await confirm(`Revert ${names.down.join(', ')}? ${lost}`, options.yes);
  }
  const reverted = names.down.length > 0 ? await goBack(link, to, { say }) : [];
  const forward = options.down === true ? [] : await migrate(link, { to, say });
  const text = [
    ...(reverted.length > 0 ? [`Reverted ${reverted.join(', ')}.`] : []),
    ...(forward.length > 0 ? [`Ran ${forward.join(', ')}.`] : []),
  ];
  return {
    data: { migrations: forward, reverted },
    text: text.length === 0 ? 'The schema is up to date.' : text.join('\n'),
  };
}

/** The last migration that the database should have. */
async function placeOf({ to, down }: MigrateCommandOptions, ran: readonly RanMigration[]): Promise<string> {
  const { migrations } = await import('../../../migrations/all.js');
  const { migrationNamed, oldestPlace, placeBefore } = await import('../../infrastructure/database/migration-plan.js');
  const { timeOf } = await import('../../infrastructure/database/schema-state.js');
  const newest = migrations.at(-1)?.name ?? '';
  const place =
    to === undefined ? (down === true ? placeBefore(ran, migrations) : newest) : migrationNamed(to, migrations);
  const oldest = oldestPlace();
  if (place === null || (timeOf(place) < timeOf(oldest) && (down === true || ran.length > 0))) {
    throw new Error(
      `there is no way back beyond ${oldest}, with which the oldest release ends: no program works on less`,
    );
  }
  return place;
}

async function statusOf(link: DatabaseLink): Promise<Answer> {
  const { connectedTo, readRan } = await import('../../infrastructure/database/migrate.js');
  const { releaseOf } = await import('../../infrastructure/database/migration-plan.js');
  const { FOREIGN_SCHEMA, schemaStateOf } = await import('../../infrastructure/database/schema-state.js');
  const { migrations } = await import('../../../migrations/all.js');
  const ran = await readRan(link.url);
  const { foreign, newer } = schemaStateOf(ran, migrations);
  if (foreign) throw new Error(FOREIGN_SCHEMA);
  const rowOf = new Map(ran.map((row) => [row.name, row]));
  const own = migrations.map((Migration) => {
    const { name, steps } = new Migration();
    const row = rowOf.get(name);
    const done = row?.steps ?? 0;
    const state = row === undefined ? 'missing' : done < steps.length ? 'incomplete' : 'ran';
    return {
      name,
      release: releaseOf(name),
      state,
      steps: steps.length,
      done,
      ran_at: row?.ranAt?.toISOString() ?? null,
    };
  });
  const later = newer.map((name) => {
    const row = rowOf.get(name);
    const done = row?.steps ?? 0;
    return {
      name,
      release: null,
      state: 'of a later release',
      steps: done,
      done,
      ran_at: row?.ranAt?.toISOString() ?? null,
    };
  });
  const rows = [...own, ...later];
  const connected = await connectedTo(link.url);
  const lines = table(rows, {
    MIGRATION: 'name',
    RELEASE: ({ release }) => release ?? '-',
    STATE: ({ state, done, steps }) => (state === 'incomplete' ? `${done} of ${steps} steps` : state),
    RAN: ({ ran_at: at }) => at ?? '-',
  });
  const processes = Object.entries(connected).map(([version, many]) => `${many} of ${version}`);
  return {
    data: { migrations: rows, connected },
    text: `${lines}\nConnected processes: ${processes.length === 0 ? 'none' : processes.join(', ')}`,
  };
}
