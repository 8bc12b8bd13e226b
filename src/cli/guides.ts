import { isOtpScope, SCOPES } from '../infrastructure/access/scopes.js';
import type { Guide } from './runner.js';

const OF_WORKSPACES = SCOPES.filter((scope) => !isOtpScope(scope));

/** Examples and notes of the commands that do not bring their own, by their words. */
export const GUIDES: Readonly<Record<string, Guide>> = {
  'workspace create': {
    examples: ['herald workspace create --name "Lighthouse Coffee"'],
    notes: 'A new workspace may read; to send it needs a subscription, a key and a number.',
  },
  'workspace list': { examples: ['herald workspace list', 'herald workspace list --json | jq -r ".[].id"'] },
  'workspace show': { examples: ['herald workspace show <id>'] },
  'workspace limits': {
    examples: [
      ['herald workspace limits --workspace <id> --rate 200 --burst 400', 'requests of each of its keys'],
      ['herald workspace limits --workspace <id> --storage-bytes 5368709120', '5 GiB of files'],
      ['herald workspace limits --workspace <id> --rate default --burst default', 'as RATE_LIMIT_PER_SECOND says'],
    ],
    notes: 'Every process applies them within two seconds. Files that are stored already stay, even above a new limit.',
  },
  'workspace delete': {
    examples: [
      ['herald workspace delete <id> --dry-run', 'count what there is'],
      ['herald workspace delete <id> --yes', 'without --yes it asks for the id'],
    ],
    notes:
      'Revokes keys, disconnects numbers, ends codes and the webhook, waits for what is under way, then removes all rows\nand files in small batches. Run it beside a working service. An interrupted run is simply started again.',
    failure: 'there is no such workspace, or something is under way that did not end within a minute: run it again',
  },
  'subscription set': {
    examples: [
      ['herald subscription set --workspace <id> --paid-until 2027-12-31', 'through the end of that day, UTC'],
      ['herald subscription set --workspace <id> --paid-until none', 'sending answers 402 from now on'],
    ],
  },
  'key create': {
    examples: [
      ['herald key create --workspace <id> --name backend --scopes messages:write,messages:read', 'for a program'],
      ['herald key create --workspace <id> --name report --scopes messages:read --expires-in 30d', 'for a month'],
      ['herald key create --otp-project <id> --name shop', 'for one-time codes'],
    ],
    notes: [
      'Only a hash of the key is stored: after a loss make another one with "herald key rotate".',
      `Scopes of a workspace: ${OF_WORKSPACES.slice(0, 5).join(', ')},`,
      `${OF_WORKSPACES.slice(5).join(', ')}.`,
      `Scopes of an OTP project: ${SCOPES.filter(isOtpScope).join(', ')}.`,
    ].join('\n'),
  },
  'key list': { examples: ['herald key list --workspace <id>'] },
  'key revoke': {
    examples: ['herald key revoke <key-id>'],
    notes: 'Every process refuses it within five seconds. It can’t be undone.',
  },
  'key rotate': {
    examples: [
      ['herald key rotate <key-id>', 'both keys work for a day'],
      ['herald key rotate <key-id> --overlap 0s', 'it has leaked'],
    ],
    notes: 'The new key has the name, the scopes and the expiry of the old one.',
  },
  'connection add': {
    examples: [
      [
        'printf %s "$TOKEN" | herald connection add --workspace <id> --phone-number-id <id> --waba-id <id> --token -',
        'the token shows up in no history and no list of processes',
      ],
    ],
    notes: 'Run it again with a new token to connect a number whose token was refused: what waits is sent then.',
    failure: 'token, number and account do not fit together; the message says which',
  },
  'connection list': { examples: ['herald connection list --workspace <id>'] },
  'connection disconnect': {
    examples: ['herald connection disconnect <connection-id> --workspace <id>'],
    notes: 'Its queued messages wait until "herald connection add" connects it again, or they expire.',
  },
  'otp-project create': {
    examples: [
      ['herald otp-project create --workspace <id> --name Shop --mode sandbox', 'sends nothing'],
      ['herald otp-project create --workspace <id> --name Shop --mode live --countries DE,US', 'sends'],
    ],
  },
  'otp-project list': { examples: ['herald otp-project list --workspace <id>'] },
  'otp-package grant': { examples: ['herald otp-package grant --project <id> --country DE --limit 5000'] },
  'otp-package list': { examples: ['herald otp-package list --project <id>'] },
  'otp-sender set': {
    examples: [
      'printf %s "$TOKEN" | herald otp-sender set --phone-number-id <id> --waba-id <id> --template login_code --token -',
    ],
    failure: 'the platform refuses the token, or the template is not an approved one of the category AUTHENTICATION',
  },
  'otp-sender show': { examples: ['herald otp-sender show'] },
  migrate: {
    examples: ['herald migrate', ['DATABASE_MIGRATE=false npm start', 'then the service leaves it to this command']],
    notes:
      'Of several that run at once one migrates and the others wait. No other command changes the schema: they refuse one that is older or newer than theirs.',
  },
  doctor: {
    examples: ['herald doctor', 'herald doctor --json | jq ".[] | select(.status != \\"ok\\")"'],
    failure: 'at least one check failed',
  },
  restore: {
    examples: [
      ['herald restore --dry-run', 'how many messages it would keep from being sent again'],
      ['herald restore', 'after a restored backup, a recovery to a point in time, or when in doubt'],
      ['herald restore --nothing-lost', 'after a planned move, or the promotion of a synchronous standby'],
    ],
    notes:
      'What was queued before the lanes were held becomes outcome_unknown: POST /messages/{id}/retry sends one by one. Workers may run while lanes are held; else stop them first.',
  },
  audit: {
    examples: [
      ['herald audit --since 2026-11-01 --json', 'to hand it to another system'],
      ['herald audit --action key.created --workspace 3f0c2d4e-7d5b-4a0e-9c55-2f6f0a1b7c11', 'who made the keys'],
    ],
    notes: 'Kept for AUDIT_RETENTION_DAYS. The database refuses to change it; see docs/security.md.',
  },
  'queue status': {
    examples: ['herald queue status', 'herald queue status --json | jq ".queues[] | select(.oldest_due_ms > 60000)"'],
  },
  'media move': {
    examples: [
      ['herald media move --to s3', 'from MEDIA_DIR into MEDIA_S3_BUCKET'],
      ['herald media move --to s3 --verify', 'and compare what an earlier run copied'],
      ['herald media move --to folder', 'and back'],
    ],
    notes:
      'Each copy is read back and compared with the SHA-256 of its upload. An interrupted run is simply started again.\nNothing is removed where the files were. The order of the steps: docs/media-storage.md.',
    failure: 'the bytes of some files are missing or damaged, or a storage was away for a minute',
  },
  'secrets rotate': {
    examples: ['herald secrets rotate'],
    notes: 'Before it, every process has the new key: see docs/operations.md. Run it until it finds nothing more.',
    failure: 'no key opens some of the secrets',
  },
};
