import { Injectable } from '@nestjs/common';

/** Limit of series, so that labels with outside values cannot fill the memory. */
const MAX_SERIES = 2_000;

/** Counts events in this process since its start. */
@Injectable()
export class Counters {
  private readonly counts = new Map<string, number>();

  /** Adds `by` (default 1) to the counter named in snake_case; the first use creates it. */
  increment(name: string, by = 1): void {
    const known = this.counts.get(name);
    if (known === undefined && this.counts.size >= MAX_SERIES) return;
    this.counts.set(name, (known ?? 0) + by);
  }

  /** Like `increment`, with labels. Their values must be few, and never come from outside. */
  incrementBy(name: string, labels: Readonly<Record<string, string>>, by = 1): void {
    let text = '';
    for (const label in labels) text += `${text === '' ? '' : ','}${label}="${labels[label]}"`;
    this.increment(`${name}{${text}}`, by);
  }

  /** Every counter by name, with its labels in Prometheus' format, sorted. */
  snapshot(): Record<string, number> {
    return Object.fromEntries([...this.counts].sort(([a], [b]) => (a < b ? -1 : 1)));
  }
}

/** Counters in the text format of Prometheus; unused ones are 0. */
export function countersText(counts: Readonly<Record<string, number>>): string {
  const silent = Object.keys(COUNTERS).filter((name) => !LABELLED.has(name));
  const series = { ...Object.fromEntries(silent.map((name) => [name, 0])), ...counts };
  const lines: string[] = [];
  let last = '';
  for (const key of Object.keys(series).sort()) {
    const [name = '', labels = ''] = key.split(/(?=\{)/);
    if (name !== last) lines.push(`# HELP herald_${name}_total ${helpOf(name)}`, `# TYPE herald_${name}_total counter`);
    lines.push(`herald_${name}_total${labels} ${series[key]}`);
    last = name;
  }
  return `${lines.join('\n')}\n`;
}

/**
 * The meaning of every counter, by its name without the prefix `herald_` and the ending `_total`. They start at 0, so
 * that the first event of a process shows as an increase.
 */
export const COUNTERS: Readonly<Record<string, string>> = {
  batch_messages: 'Messages of batches, by what became of them: accepted, replayed or refused.',
  claims_taken_back:
    'Messages, codes and webhook deliveries returned to the queue because the answer to their claim was lost.',
  connection_facts_failed: 'Failed reads of one of our numbers at the platform.',
  connections_refused: 'Connections closed because their address, or all callers together, had too many.',
  contact_book_failed: "Failed removals of erased people from WhatsApp's contact book; the log says why.",
  contact_book_removed: "Erased people who were removed from WhatsApp's contact book.",
  destination_events_lost: 'Events whose time was over before they were written to a destination.',
  destination_events_written: 'Events that destinations have acknowledged, by kind.',
  destination_failures: 'Turns of destinations that ended with an error, by kind.',
  destination_record_failed: 'Outcomes of turns that could not be recorded at once; they are tried again.',
  keys_refused: 'Requests refused for their API key, by the code of the answer.',
  lane_drain_failed:
    'Failures of queues: of claims, each for all its lanes, of looks for work, and of rows outside their own handling.',
  late_reads:
    'Reads that may be late, by the server that answered, and why: read; for the primary behind, written (by the same key a moment ago), not_found or failed.',
  lane_wakes: 'Jobs for lanes with due rows that the job queue accepted.',
  lane_wakes_dropped: 'Jobs dropped because too many were waiting; the sweep finds their rows.',
  lane_wakes_failed: 'Jobs that the job queue did not accept within a second; the sweep finds their rows.',
  media_copies_left: 'Copies at the platform that could not be removed; the platform removes them after 30 days.',
  media_copies_removed: 'Copies at the platform that were removed with their file.',
  media_fetch_account: "Fetches of customers' files deferred because of the number or the account.",
  media_fetch_failed: "Customers' files that will never be fetched.",
  media_fetch_other_type: "Customers' files whose content is not of the announced type.",
  media_fetch_refused: "Customers' files that the platform or a check refused.",
  media_fetch_stored: "Customers' files that were fetched.",
  media_fetch_storage_full: "Attempts to fetch a customer's file that wait because the workspace's storage is full.",
  media_fetch_too_late: "Customers' files that another process had fetched meanwhile.",
  media_fetch_wait: "Fetches of customers' files that will be tried again.",
  media_ids_refused: "The platform's ids of our files that it did not know any more.",
  media_upload_faults: 'Uploads to the platform that ended in an internal error.',
  metrics_collect_failed: 'Measurements left out of /metrics because they failed or took too long.',
  notifications_apply_failed: 'Stored notifications that could not be applied at once; the sweep retries them.',
  notifications_echoes: 'Messages that were sent in the WhatsApp Business app.',
  notifications_failed:
    'Notifications given up after 24 hours because applying them failed each time; the log names them.',
  notifications_management: 'Notifications about templates, numbers and accounts.',
  notifications_messages: 'Messages received from customers.',
  notifications_otp: 'Notifications about one-time codes.',
  notifications_refused: 'Notifications whose signature is not ours; answered 401.',
  notifications_statuses: 'Reports about sent messages that were applied.',
  notifications_stored: 'Notifications that were stored.',
  notifications_unknown: 'Parts of notifications that Herald does not know; herald doctor names them.',
  notifications_unmatched: 'Notifications given up after 24 hours with items of no number or message of ours.',
  notifications_unreadable: 'Notifications that are no JSON.',
  notifications_unused: 'Parts of notifications that Herald knows, but does nothing with; herald doctor names them.',
  overloads: 'Times that the process began to refuse requests because it was overloaded.',
  otp_accepted: 'One-time codes that were requested and accepted.',
  otp_failed: 'One-time codes that could not be sent.',
  otp_guessing_alarms:
    'Hundreds of wrong codes of one project within an hour in which more than a third of its codes were wrong.',
  otp_record_failed: 'Outcomes of codes that could not be stored at once.',
  otp_reports_delivered: 'Codes reported as delivered.',
  otp_reports_failed: 'Codes reported as failed.',
  otp_reports_read: 'Codes reported as read.',
  otp_reports_sent: 'Codes reported as sent.',
  otp_sent: 'One-time codes that the platform took.',
  otp_unknown: 'One-time codes whose sending had no clear answer.',
  otp_verified: 'Verifications with the right code.',
  otp_wrong: 'Verifications with a wrong code.',
  outcome_not_found: 'Outcomes of sends whose attempt was not found, as after an erasure; the log names the messages.',
  outcome_record_failed: 'Outcomes of sends that could not be stored at once.',
  rate_limit_alone: 'Times that rate limits were counted by this process alone, without the database.',
  send_accepted: 'Messages that the platform took.',
  send_deferred: 'Sends that the platform refused for now, or that were not written to the wire.',
  send_lane_paused: 'Sends refused because of the number or the account; its lane pauses.',
  send_later: 'Claimed messages that were returned without an attempt.',
  sends_rerouted: 'Templates that WhatsApp refused for their endpoint, and that went by the other one at once.',
  send_outcomes: 'Outcomes of sends by category; none: accepted.',
  send_recipient_deferred: 'Sends refused for now because of their recipient.',
  send_rejected: 'Messages that the platform refused for good.',
  send_unknown: 'Sends without a clear answer; their messages are outcome_unknown.',
  sweep_failures: 'Rounds of sweeps that failed, by sweep.',
  sweep_rows: 'Rows that sweeps touched, by sweep.',
  template_syncs: 'Syncs of an account’s templates.',
  template_syncs_failed: 'Syncs of an account’s templates that failed.',
  trace_spans_dropped: 'Spans dropped because as many waited as may.',
  trace_spans_exported: 'Spans that the collector took.',
  trace_spans_failed: 'Spans that the collector did not take; they are dropped.',
  webhook_disabled_failing: 'Endpoints disabled after five days without one success.',
  webhook_disabled_gone: 'Endpoints disabled because they answered 410.',
  webhook_events_dropped:
    'Events that are not delivered any more: after three days at a paused or disabled endpoint, too many of one, or too old; the log says why.',
  webhook_failed: 'Delivery attempts without a 2xx.',
  webhook_record_failed: 'Outcomes of deliveries that could not be stored at once.',
  webhook_released: 'Claimed deliveries that were returned without an attempt.',
  webhook_secret_unreadable: 'Deliveries that could not be signed because no key decrypts their secret.',
  webhook_succeeded: 'Delivery attempts answered 2xx.',
  webhook_wakes_failed: 'Wakes of endpoints that failed; the sweep finds their events.',
  workspace_reads_refused: 'Reads refused because as many of their workspace were under way and waiting as may be.',
};

/** Counters whose names end in a word from the code, such as an answer's kind. */
export const COUNTER_FAMILIES: Readonly<Record<string, string>> = {
  media_upload_: 'Uploads of our files to the platform, by outcome.',
  requests_shed_: 'Requests answered 503 because the process was overloaded, by kind.',
};

/** Counters with labels, which have no value before their first event. */
export const LABELLED: ReadonlySet<string> = new Set([
  'batch_messages',
  'keys_refused',
  'late_reads',
  'send_outcomes',
  'sweep_failures',
  'sweep_rows',
]);

/** The meaning of a counter; the same text for a whole family. */
export function helpOf(name: string): string {
  const family = Object.keys(COUNTER_FAMILIES).find((prefix) => name.startsWith(prefix));
  return COUNTERS[name] ?? (family === undefined ? undefined : COUNTER_FAMILIES[family]) ?? 'Events since the start.';
}
