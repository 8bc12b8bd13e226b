import { InvalidArgumentError, Option, type Command } from 'commander';
import type { StorageKind } from '../../infrastructure/config/settings.js';
import type { MoveResult } from '../../modules/media/media-move.service.js';
import { localAction, operatorAction, serviceAction } from '../runner.js';
import { PAGE, rowsOf, type Schemas } from '../operator.js';
import { snakeCased, table } from '../output.js';
import { BLOCKED_ADVICE } from '../../infrastructure/queue/claims-blocked.js';
import type { Restoration } from '../../infrastructure/queue/restoration.js';
import { addMigrate } from './migrate.command.js';
import { isUuid } from '../../common/ids.js';
import { AUDIT_ACTIONS, type AuditAction } from '../../modules/audit/audit.types.js';
import { dayOrTime, wholeNumber } from '../arguments.js';

/** `migrate`, `doctor`, `queue status`, `restore`, `audit`, `secrets rotate`, `media move`: for operators. */
export function addOperationsCommands(program: Command): void {
  addMigrate(program);
  addDoctor(program);
  addQueueStatus(program);
  addRestore(program);
  addAudit(program);
  addSecretsRotate(program);
  addMediaMove(program);
}

type Lane = Schemas['LaneResponse'];

const secondsText = (ms: number): string => `${(ms / 1_000).toFixed(1)} s`;

const QUEUE_COLUMNS = {
  WHAT: 'queue',
  WAITING: 'waiting',
  'IN FLIGHT': 'in_flight',
  'OLDEST DUE': ({ oldest_due_ms: age }: Schemas['QueueResponse']) => (age === 0 ? '-' : secondsText(age)),
} as const;

const LANE_COLUMNS = {
  CONNECTION: 'connection_id',
  NUMBER: 'phone_number',
  DUE: 'due',
  QUEUED: 'queued',
  SCHEDULED: 'scheduled',
  'IN FLIGHT': 'in_flight',
  'OLDEST DUE': ({ oldest_due_ms: age }: Lane) => (age === null ? '-' : secondsText(age)),
  STATE: stateOf,
} as const;

function addQueueStatus(program: Command): void {
  const queue = program.command('queue').description('queued messages and other pending work');
  operatorAction(
    queue
      .command('status')
      .description('pending work and its age: messages by number, webhooks, codes, files, notifications'),
    async ({ admin }) => {
      const { held, queues, outcome_unknown: unknown, lanes } = await admin.installation.get();
      const text = [
        ...(held ? [`Claims are blocked, nothing is sent: ${BLOCKED_ADVICE}.`] : []),
        table(queues, QUEUE_COLUMNS),
        ...(unknown === 0 ? [] : [`${unknown} messages with an unknown outcome: they wait for a decision.`]),
        table(lanes, LANE_COLUMNS, 'No number has messages to send.'),
      ];
      return { data: { held, queues, outcome_unknown: unknown, lanes }, text: text.join('\n\n') };
    },
  );
}

function stateOf(lane: Lane): string {
  if (lane.connection_status !== 'connected') return lane.connection_status;
  if (lane.paused_until !== null) return `paused until ${lane.paused_until}: ${lane.pause_reason ?? '-'}`;
  return lane.draining ? 'draining' : 'waiting';
}

interface RestoreOptions {
  before?: Date;
  dryRun?: boolean;
  nothingLost?: boolean;
  force?: boolean;
}

/** A worker finishes several sweeps in this time. */
const WORKERS_ARE_OFF_AFTER_SECONDS = 15;

function addRestore(program: Command): void {
  serviceAction<RestoreOptions>(
    program
      .command('restore')
      .description('resume sending after a restored backup or a failover, without sending anything twice')
      .option(
        '--before <time>',
        'only what was queued before this time (default: since claims are blocked, else everything queued now)',
        dayOrTime,
      )
      .option('--dry-run', 'count, and change nothing')
      .option('--nothing-lost', 'a planned move, or a standby with every commit was promoted: keep the queue as it is')
      .option('--force', 'even when a worker seems to run'),
    'it decides what a restored database still sends, where its workers are stopped',
    async (services, options) => {
      const restoration = services.restoration;
      const before = options.before;
      if (options.dryRun === true) {
        const plan = await restoration.plan(before);
        const text = `Would be marked as outcome_unknown: ${listOf(plan.counts)}.`;
        return { data: { before: plan.before, would_mark: plan.counts }, text };
      }
      // While claims are blocked nothing is claimed, even if workers run.
      if (options.force !== true && (await restoration.blocked()) === null) await requireNoWorkers(restoration);
      if (options.nothingLost === true) {
        await restoration.adopt();
        return {
          data: { adopted: true },
          text: 'The database is confirmed as it is. Running workers continue; otherwise start them.',
        };
      }
      const marked = await restoration.mark(before);
      return {
        data: { before: marked.before, marked: marked.counts },
        text:
          `Marked as outcome_unknown: ${listOf(marked.counts)}. They are not sent by themselves; ` +
          'POST /messages/{id}/retry with confirm_outcome_unknown sends one again.',
      };
    },
  );
}

async function requireNoWorkers(restoration: Restoration): Promise<void> {
  const silent = await restoration.silentSeconds();
  if (silent === null || silent >= WORKERS_ARE_OFF_AFTER_SECONDS) return;
  throw new Error(
    `a worker was at work on this database ${Math.max(0, Math.round(silent))} s ago: stop all of them first and wait ` +
      `${WORKERS_ARE_OFF_AFTER_SECONDS} s, or say --force`,
  );
}

function listOf(counts: Record<string, number>): string {
  return Object.entries(counts)
    .map(([name, count]) => `${count} ${name}`)
    .join(', ');
}

interface AuditOptions {
  workspace?: string;
  action?: AuditAction;
  since?: Date;
  until?: Date;
  limit: number;
}

const MAX_AUDIT_EVENTS = 10_000;

function addAudit(program: Command): void {
  operatorAction<AuditOptions>(
    program
      .command('audit')
      .description('who changed keys, numbers, settings and data, when and from where; newest first')
      .option('--workspace <id>', 'only of this workspace, deleted ones too', uuid)
      .addOption(new Option('--action <name>', 'only this kind').choices(AUDIT_ACTIONS))
      .option('--since <time>', 'from this time on', dayOrTime)
      .option('--until <time>', 'before this time', dayOrTime)
      .option('--limit <n>', 'how many at the most', wholeNumber(1, MAX_AUDIT_EVENTS), 100),
    async ({ admin }, { workspace, action, since, until, limit }) => {
      const filter = { workspace_id: workspace, action, since: since?.toISOString(), until: until?.toISOString() };
      const data = await rowsOf(admin.audit.list({ ...filter, limit: Math.min(limit, PAGE) }), limit);
      return { data, text: table(data, AUDIT_COLUMNS, 'Nothing was changed in this time.') };
    },
  );
}

type AuditEvent = Schemas['AuditEventResponse'];

const AUDIT_COLUMNS = {
  TIME: 'occurred_at',
  ACTION: 'action',
  BY: ({ actor_kind: kind, actor }: AuditEvent) => (actor === null ? kind : `${kind} ${actor}`),
  FROM: 'address',
  WORKSPACE: 'workspace_id',
  TARGET: 'target',
  DETAILS: ({ details }: AuditEvent) => (details === null ? '-' : JSON.stringify(details)),
} as const;

function uuid(text: string): string {
  if (isUuid(text)) return text;
  throw new InvalidArgumentError('give the id of a workspace.');
}

const LATER =
  'Take the older keys out of ENCRYPTION_KEYS after an hour: codes and links to files that were made with them live until then.';

function addSecretsRotate(program: Command): void {
  const secrets = program.command('secrets').description('stored secrets and the keys that encrypt them');
  serviceAction(
    secrets.command('rotate').description('encrypt every stored secret again under the current key; service may run'),
    'it needs ENCRYPTION_KEYS, which leave the server for nothing',
    async (services) => {
      const rotation = services.secretRotation;
      const columns = await rotation.rotate();
      const unreadable = columns.reduce((sum, column) => sum + column.unreadable, 0);
      const shown = {
        TABLE: 'table',
        [`UNDER KEY ${rotation.version} NOW`]: 'resealed',
        UNREADABLE: 'unreadable',
      } as const;
      const hint =
        unreadable > 0 ? 'No key in ENCRYPTION_KEYS decrypts some of them: add the key that encrypted them.' : LATER;
      return {
        data: { version: rotation.version, tables: columns },
        text: `${table(columns, shown)}\n${hint}`,
        failed: unreadable > 0,
      };
    },
  );
}

interface MoveMediaOptions {
  to: StorageKind;
  verify?: boolean;
}

function addMediaMove(program: Command): void {
  const media = program.command('media').description('where files lie');
  serviceAction<MoveMediaOptions>(
    media
      .command('move')
      .description('copy all files to the other storage, while the service runs; what is there already stays')
      .addOption(
        new Option('--to <storage>', 'where the files go')
          .choices(['folder', 's3'] satisfies StorageKind[])
          .makeOptionMandatory(),
      )
      .option('--verify', 'read files that are there already, too, and copy those whose bytes differ'),
    'it copies the files themselves',
    async (services, { to, verify = false }) => {
      const tell = (soFar: MoveResult): void => void process.stderr.write(`${moveText(soFar)}\n`);
      const result = await services.mediaMove.move({ to, verify, tell });
      const from = to === 's3' ? 'folder' : 's3';
      const lost = result.missing + result.damaged;
      const hint =
        lost > 0
          ? 'What is missing or damaged has no good bytes left: restore it from a backup, or let its owner upload it again.'
          : `When every process has MEDIA_STORAGE=${to},${from} and this command has run since, set MEDIA_STORAGE=${to}.`;
      const named = result.examples.length === 0 ? [] : [`Such as: ${result.examples.join(', ')}.`];
      return {
        data: snakeCased({ to, ...result }),
        text: [moveText(result), ...named, hint].join('\n'),
        failed: lost > 0,
      };
    },
  );
}

function moveText({ copied, copiedBytes, present, missing, damaged }: MoveResult): string {
  const mib = (copiedBytes / 1_048_576).toFixed(1);
  return `${copied} files copied and compared (${mib} MiB), ${present} were there, ${missing} missing, ${damaged} damaged.`;
}

const MARKS = { ok: 'ok  ', warn: 'warn', fail: 'FAIL' } as const;

function addDoctor(program: Command): void {
  const command = program.command('doctor').description('check every dependency and setting, one line each');
  localAction(command, 'it checks the settings and the dependencies of the machine itself', async () => {
    // Loaded here only, so that other commands need not wait for it.
    const { examine } = await import('../doctor.js');
    const findings = await examine();
    const width = Math.max(...findings.map((finding) => finding.check.length));
    return {
      data: findings,
      text: findings
        .map(({ check, status, detail }) => `${MARKS[status]} ${check.padEnd(width)}  ${detail}`)
        .join('\n'),
      failed: findings.some((finding) => finding.status === 'fail'),
    };
  });
}
