import type { Command } from 'commander';
import { isOtpScope, SCOPES } from '../infrastructure/http/scopes.js';
import { paint } from './output.js';

export interface Guide {
  /** Command lines to type, each with its purpose where that is not obvious. */
  examples: readonly (string | readonly [line: string, purpose: string])[];
  /** Additions to the description: limits, dangers, sources of the data. */
  notes?: string;
  /** The meaning of exit code 1, where it is more than "it failed; the message says why". */
  failure?: string;
}

const OF_WORKSPACES = SCOPES.filter((scope) => !isOtpScope(scope));

const WATCH_FAILURE = 'refused, or with --watch: it failed or was not read within --timeout; the message says why';

/**
 * The rest of each command's help, by the command's words: notes, examples, exit codes. A test checks that each command
 * has it.
 */
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
      [
        'herald workspace limits --workspace <id> --messages-per-day 1000 --time-zone Europe/Berlin',
        'more are refused until midnight there',
      ],
      [
        'herald workspace limits --workspace <id> --spend-per-month 250.00',
        'templates that would cost more, by the prices of `herald rates`, are refused',
      ],
      ['herald workspace limits --workspace <id> --marketing-per-recipient-per-week 2', 'for each of its contacts'],
    ],
    notes:
      'Every process applies them within two seconds. Files that are stored already stay, even above a new limit. Messages count from the moment when their limit is set.',
  },
  'workspace opt-out-keywords': {
    examples: [
      ['herald workspace opt-out-keywords --workspace <id>', 'show them'],
      [
        'herald workspace opt-out-keywords --workspace <id> --language de --out "Stopp,Keine Werbung" --in Start',
        'set',
      ],
      ['herald workspace opt-out-keywords --workspace <id> --language de --off', 'take those of a language away'],
    ],
    notes:
      'There are none by default. A customer who writes exactly such a word, in any case, opts out of marketing templates of the\nworkspace, or in again. What the person chose in WhatsApp does not change.',
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
  'operator-key create': {
    examples: [
      'herald operator-key create --name console --scopes all',
      'herald operator-key create --name support --scopes workspaces:read,usage:read --workspaces <id>,<id> --expires-in 30d',
    ],
    notes:
      'Only a hash of the key is stored. Without --workspaces it is for all workspaces, and may make new ones.\nWith --url the key of the call gives no more than it has: its scopes, its workspaces, its end.',
  },
  'operator-key list': { examples: ['herald operator-key list', 'herald operator-key list --json'] },
  'operator-key revoke': {
    examples: ['herald operator-key revoke <key-id>'],
    notes:
      'Every process refuses it within five seconds. Keys that it made stay valid: herald audit --action operator_key.created.\nWith --url the key of the call may revoke itself, and others that have no scope which it lacks.',
  },
  'operator-key rotate': {
    examples: ['herald operator-key rotate <key-id>', 'herald operator-key rotate <key-id> --overlap 0s'],
    notes:
      'The new key has the name, the scopes and the workspaces of the old one. It never ends; with --url it ends with the key of the call.',
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
  'connection set': {
    examples: ['herald connection set <connection-id> --workspace <id> --marketing-route messages'],
    notes:
      'With "auto" a marketing template goes by WhatsApp\'s endpoint of marketing messages, where the account may use it; with "messages" never.',
  },
  'connection disconnect': {
    examples: ['herald connection disconnect <connection-id> --workspace <id>'],
    notes: 'Its queued messages wait until "herald connection add" connects it again, or they expire.',
  },
  'connection import-history': {
    examples: [
      ['herald connection import-history <connection-id> --workspace <id> --request', 'ask WhatsApp for it'],
      ['herald connection import-history <connection-id> --workspace <id>', 'import what has come'],
    ],
    notes: [
      'Of a number that is in the WhatsApp Business app too: messages of up to 180 days before it was connected, with the',
      'times that they had, as source history. They open no window and make no events. What is there already stays as it',
      'is, so run it as often as you like; notifications are kept for NOTIFICATION_RETENTION_DAYS. docs/coexistence.md',
    ].join('\n'),
    failure: 'there is no such number, or WhatsApp does not hand its history over',
  },
  'setup-link create': {
    examples: [
      'herald setup-link create --workspace <id>',
      'herald setup-link create --workspace <id> --signup manual --expires-in 1d --return-url https://app.example.com/numbers',
    ],
    notes:
      'The address begins with PUBLIC_URL. A person who has it can connect one number to the workspace; docs/setup-links.md says more.',
  },
  'setup-link list': { examples: ['herald setup-link list --workspace <id>'] },
  'setup-link revoke': { examples: ['herald setup-link revoke <id> --workspace <id>'] },
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
    examples: [
      'herald migrate',
      ['herald migrate --status', 'what ran, of which release, and whose processes are connected'],
      ['herald migrate --to 0.2.0 --dry-run', 'what would be reverted or run, and what would be lost'],
      ['herald migrate --down --yes', 'one step back, once no process of the newer release is connected'],
      ['DATABASE_MIGRATE=false npm start', 'then the service leaves it to this command'],
    ],
    notes:
      'Of several that run at once one migrates and the others wait. A statement that gets no lock within half a second is tried again for about five minutes, and blocks no traffic meanwhile. Back goes only the program of the release that brought a migration, and not below the oldest release. No other command changes the schema: they refuse one that is older or newer than theirs.',
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
      'What was queued before claims were blocked becomes outcome_unknown: POST /messages/{id}/retry sends one by one. Workers may run while claims are blocked; else stop them first.',
  },
  usage: {
    examples: [
      ['herald usage', 'the present month of all workspaces'],
      ['herald usage --month 2026-10 --csv > 2026-10.csv', 'for a spreadsheet'],
      'herald usage --workspace <id> --month 2026-10',
    ],
    notes:
      'Months are those of UTC, by the submission of the messages. Figures are kept for 25 months. Costs are estimated from the\nprices of `herald rates set`; where a price is missing there is none.',
  },
  'rates set': {
    examples: ['herald rates set --file rates.csv'],
    notes:
      'Replaces all prices. The file has a header and one price a line: countries,category,tier_from,price,currency,valid_from.\ndocs/usage.md says where the prices are found.',
    failure: 'the file is not right, and nothing was changed; the message names the line',
  },
  'rates show': { examples: ['herald rates show'] },
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
  'message send': {
    examples: [
      ['herald message send --to +15550001234 --text "Your table is ready." --watch', 'to a customer of the demo'],
      ['herald message send --to +15550004444 --template order_update --param Ana --param 4711', 'writing first'],
      ['herald message send --to +15550001234 --media menu.pdf --text "Today"', 'a file with a caption'],
      ['herald message send --file messages.json --permissive', 'many'],
      [
        'herald message send --to +15550001234 --text "See you at eight." --send-at 2h --ttl 1h',
        'later, or not at all',
      ],
    ],
    notes: [
      'Ordinary messages may go only to customers who wrote in the last 24 hours; others may get an approved template.',
      'What is sent with a duration from now is another message at each call: repeat it with the time itself.',
      '--file takes a JSON array or one message a line, and sends a hundred with each request: all of them, or',
      'none where one cannot be sent; with --permissive those that can. Where a message has no idempotency_key, it gets one:',
      'give them yourself to repeat a file without sending twice.',
    ].join('\n'),
    failure: WATCH_FAILURE,
  },
  'message watch': {
    examples: ['herald message watch 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e --timeout 10m'],
    notes: 'Times are those of the API; WhatsApp reports sent, delivered and read in whole seconds.',
    failure: 'the message failed, or was not read within --timeout',
  },
  tail: {
    examples: [
      ['herald tail', 'until Ctrl-C'],
      ['herald tail --direction inbound --json | jq -r .message.body', 'what customers write, for another program'],
      ['herald tail --status failed,outcome_unknown', 'only what went wrong'],
    ],
    notes: [
      'Needs a key with messages:read, nothing else: it polls the journal. So a state that lasts for',
      'less than --interval may not be shown, and of messages older than the newest hundred ten are read in each poll.',
      'To miss nothing, set a webhook.',
    ].join('\n'),
    failure: 'the service does not answer or refuses the key; Ctrl-C ends it with 0',
  },
  'message explain': {
    examples: ['herald message explain 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e'],
    notes: 'With --json as GET /messages/{id}/timeline answers it.',
    failure: 'there is no such message',
  },
  'webhook set': {
    examples: [
      'herald webhook set https://example.com/whatsapp',
      ['herald webhook set https://example.com/whatsapp --events message.received', 'only what customers write'],
      [
        'herald webhook set https://example.com/whatsapp --header "X-Api-Key: -" < key.txt',
        'a value from standard input',
      ],
    ],
    notes: [
      'Without --events a new webhook gets the two about messages. What an existing one has stays where it is not given,',
      'but headers only while scheme, host and port stay. Values of headers are stored encrypted and never shown again. A',
      'webhook that Herald disabled works again once it is set. The demo workspace of this machine also takes',
      'http://127.0.0.1:<port>/ where it is set with this command.',
    ].join('\n'),
  },
  'webhook replay': {
    examples: [
      ['herald webhook replay --since 2h', 'after an outage of the receiver'],
      'herald webhook replay --since 2026-11-21T08:00:00Z --until 2026-11-21T10:30:00Z --status all --types message.received',
    ],
    notes: [
      'The events go out once more, under their ids, the oldest first; fresh ones do not wait for them. Ctrl-C ends the',
      'watching only: the replay goes on.',
    ].join('\n'),
    failure: 'there is no webhook, a replay is running, or the time has too many events',
  },
  'webhook listen': {
    examples: [
      ['herald webhook listen', 'print them, until Ctrl-C'],
      ['herald webhook listen --forward-to http://localhost:8080/webhook', 'try a receiver on this machine'],
      ['herald webhook listen --json | jq .data', 'for another program'],
    ],
    notes: [
      'Needs a key with webhooks:read, and no address that Herald can reach: events are read from GET /events. With',
      '--forward-to each is signed with a secret that is made for this run and printed first, and posted once; the answer',
      'stands behind the event.',
      'With --secret it receives the deliveries themselves, and verifies each: a wrong signature is answered 400. Herald',
      'delivers to public https addresses only: put a tunnel or a proxy with a certificate in front, and set its address',
      'with "herald webhook set". The demo workspace of a Herald on this machine takes the address that this prints,',
      'while it listens on 127.0.0.1; others do with WEBHOOK_ALLOW_PRIVATE_TARGETS=true.',
    ].join('\n'),
    failure: 'the key is refused, or with --secret the port is taken; Ctrl-C ends it with 0',
  },
  'webhook verify': {
    examples: [
      ['herald webhook verify', 'the receiver of the workspace'],
      [
        'herald webhook verify --receiver http://localhost:8080/webhook --secret - < secret.txt',
        'a program on this machine, without Herald',
      ],
      ['herald webhook verify --json | jq .results', 'for another program'],
    ],
    notes: [
      'Makes over thirty deliveries within 25 seconds: each kind of event, repeats, disorder, two signatures as after a',
      'rotation, a large body, kinds and fields that do not exist yet, and forgeries, which the receiver must refuse. Every event has',
      '"test": true in its data. Needs a key with webhooks:write; a workspace has three runs at once and one more each minute.',
    ].join('\n'),
    failure: 'the receiver does something wrong, or does not answer',
  },
  'events list': {
    examples: [
      'herald events list',
      ['herald events list --after <cursor>', 'what follows a delivery, or the page before'],
      ['herald events list --types message.received --json | jq .data', 'for another program'],
    ],
    notes:
      'Needs a key with webhooks:read. Events are recorded from the first webhook of the workspace on, or from the first\ncall of this. With --json as GET /events answers it.',
    failure: 'the cursor is older than what is kept: begin without --after',
  },
  'events tail': {
    examples: [
      ['herald events tail', 'until Ctrl-C'],
      ['herald events tail --after <cursor> --json >> events.jsonl', 'go on where the last line of the file ends'],
    ],
    notes: [
      'Needs a key with webhooks:read. With --json each line is an event with its cursor: to go on later without',
      'a gap, pass the cursor of the last line as --after.',
    ].join('\n'),
    failure: 'the service does not answer, or refuses the key or the cursor; Ctrl-C ends it with 0',
  },
  'simulate inbound': {
    examples: [
      'herald simulate inbound --from +4915112345678 --text "Is my table ready?"',
      ['herald simulate inbound --button yes', 'press the reply button with the id yes'],
      ['herald simulate inbound --list row-2', 'choose a row of a list'],
      ['herald simulate inbound --image table.jpg --text "This one"', 'send a picture'],
      ['herald simulate inbound --reaction 👍', 'react to what was sent last'],
      ['herald simulate inbound --new-number', 'from a customer who has never written'],
    ],
    notes: 'The answer is what the simulator posted as a notification. docs/simulator.md has every kind of message.',
    failure: 'no simulator answers, or it does not know the number',
  },
  'simulate failure': {
    examples: [
      ['herald simulate failure 131049 --to +4915112345678', 'the next message to this number fails'],
      ['herald simulate failure 131031 --times 3 --answer', 'WhatsApp refuses the next three at once'],
    ],
    notes: 'The number is that of the demo, unless --number says otherwise.',
    failure: 'no simulator answers',
  },
  'simulate echo': {
    examples: [
      'herald simulate echo --text "Your table is ready."',
      ['herald simulate echo --to +4915112345678 --status sent', 'and no more is reported of it'],
    ],
    notes:
      'The number is in the WhatsApp Business app from then on, and sends 20 messages a second: docs/coexistence.md.',
    failure: 'no simulator answers, or it does not know the number',
  },
  'simulate contact': {
    examples: [
      'herald simulate contact --to +4915112345678 --name "Ana Lima"',
      'herald simulate contact --to +4915112345678 --remove',
    ],
    notes: 'A notification of the field smb_app_state_sync, which Herald keeps and counts.',
    failure: 'no simulator answers, or it does not know the number',
  },
  'simulate history': {
    examples: [
      ['herald simulate history --contacts 3 --messages 20', 'then: herald connection import-history'],
      ['herald simulate history --declined', 'the business does not share it'],
    ],
    notes: 'A repeat has the same messages again. One is a picture, whose file comes by a notification of its own.',
    failure: 'no simulator answers, or it does not know the number',
  },
  'simulate opt-out': {
    examples: [
      'herald simulate opt-out --from +4915112345678',
      ['herald simulate opt-out --from +4915112345678 --resume', 'they want marketing messages again'],
    ],
    notes: 'The simulator refuses marketing messages to them with 131050 until they resume: docs/opt-outs.md.',
    failure: 'no simulator answers, or it does not know the number',
  },
  'simulate status': {
    examples: [
      'herald simulate status 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e read',
      ['herald simulate status 01936f6e-7c1a-7d20-9b1e-2f3a4b5c6d7e failed --code 131026', 'it cannot be delivered'],
    ],
    notes: 'A status never goes back: after read a delivered changes nothing.',
    failure: 'no simulator answers, or the message was never sent',
  },
  demo: {
    examples: [
      ['npm start', 'in one terminal'],
      ['npx herald demo', 'in another, in the same folder'],
      ['npx herald demo --fast --chapter send,retry', 'two chapters, without pauses'],
    ],
    notes:
      'Address, keys and numbers come from DATA_DIR/demo.json. It leaves messages in the demo workspace, nothing else.',
    failure: 'a step failed; the output says which and why',
  },
  console: {
    examples: [
      ['herald console', 'of the demo, in its folder'],
      ['herald console --open', 'and open it'],
      ['herald console --url https://herald.example --key -', 'of another service; the key comes from standard input'],
    ],
    notes:
      'The key is in the fragment of the link, which is sent to no server, and the page removes it from the address at\nonce. With --open other users of this machine may see the link while the browser starts.',
    failure: 'no service answers, it does not know the key, it serves no console, or no browser opens',
  },
  completion: {
    examples: [
      ['source <(herald completion bash)', 'for this terminal; in ~/.bashrc for all'],
      ['source <(herald completion zsh)', 'the same in ~/.zshrc'],
      ['herald completion fish > ~/.config/fish/completions/herald.fish', 'for every terminal'],
    ],
    notes: 'The shell must find herald by its name, for example with: alias herald="npx herald".',
  },
  'data erase': {
    examples: [
      ['herald data erase --workspace <id> --number +15550001234', 'count what there is'],
      ['herald data erase --workspace <id> --number +15550001234 --yes', 'erase it'],
      ['herald data erase --workspace <id> --user-id DE.1795100000000001 --yes', 'of a contact without a number'],
    ],
    notes:
      'Removes contents, contact, files that were sent in, codes, events and notifications, under every name of the\ncontact; the journal keeps empty rows. Run it beside a working service, which finishes what is under way. Files\nthat the workspace uploaded stay, and so do logs and backups. A worker goes on with a run that was interrupted.',
    failure:
      'a message to or from the contact is in progress and did not end within a minute: a worker goes on by itself',
  },
};

/** Every executable command, by its words: `key create`. */
export function commandsOf(command: Command, words: readonly string[] = []): [words: string, command: Command][] {
  if (command.commands.length === 0) return [[words.join(' '), command]];
  return command.commands.flatMap((inner) => commandsOf(inner, [...words, inner.name()]));
}

/** Adds the guides to the help of their commands. */
export function addGuides(program: Command): void {
  for (const [words, command] of commandsOf(program)) {
    const guide = GUIDES[words];
    if (guide !== undefined) command.addHelpText('after', () => helpOf(guide));
  }
}

function helpOf({ examples, notes, failure }: Guide): string {
  const lines = examples.flatMap((example) => {
    const [line, purpose] = typeof example === 'string' ? [example, undefined] : example;
    return [...(purpose === undefined ? [] : [paint.faint(`  # ${purpose}`)]), `  ${line}`];
  });
  return [
    ...(notes === undefined ? [] : ['', notes]),
    '',
    paint.heading(examples.length === 1 ? 'Example:' : 'Examples:'),
    ...lines,
    '',
    paint.heading('Exit codes:'),
    '  0  done',
    `  1  ${failure ?? 'failed; the message says why'}`,
    '  2  wrong use: unknown option, missing or malformed argument',
  ].join('\n');
}
