import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { readProjectFile } from '../support/project-files.js';

const RULES = 'deploy/prometheus/herald.rules.yml';
/** As in deploy/prometheus/prometheus.yml. */
const EVERY_SECONDS = 15;
/** The fault comes after three minutes: longer than the windows of alerts that must fire within two. */
const HEALTHY_SAMPLES = 12;
const FAULT_AT_MINUTES = (HEALTHY_SAMPLES * EVERY_SECONDS) / 60;

const CONFIGURATIONS = ['deploy/prometheus/prometheus.yml', 'deploy/prometheus/prometheus.static.yml'];

interface Configuration {
  scrape_configs: {
    job_name: string;
    static_configs?: { labels?: { role: string } }[];
    dns_sd_configs?: { names: string[] }[];
    relabel_configs?: unknown[];
  }[];
}

const hasPromtool = spawnSync('promtool', ['--version']).status === 0;

const API = 'job="herald", role="api", instance="api-1"';
const WORKER = 'job="herald", role="worker", instance="worker-1"';
const PROXY = 'job="caddy", instance="proxy", server="srv1", handler="reverse_proxy"';
const REQUESTS = 'herald_http_request_seconds_count';
const SWEEPS = ['send_due', 'send_leases', 'inbound_due', 'otp_due', 'webhook_due'];
const QUEUES = ['messages', 'webhooks', 'codes', 'files', 'notifications'];

/** What a series does from the fault on: a value, a rise by so much each time, or no sample any more. One that is not among the healthy begins. */
type Course = number | { rise: number } | 'gone';

/** Values of a healthy installation with traffic, one api and one worker. */
const HEALTHY: Readonly<Record<string, number | { rise: number }>> = {
  ...Object.fromEntries(
    [API, WORKER].flatMap((labels) => [
      [`up{${labels}}`, 1],
      [`process_start_time_seconds{${labels}}`, 1_000],
      ...['database', 'migrations', 'sweeps', 'queue', 'lanes', 'accepting'].map(
        (part) => [`herald_ready{${labels}, part="${part}"}`, 1] as const,
      ),
      [`herald_queue_reachable{${labels}}`, 1],
      [`herald_media_storage_available{${labels}}`, 1],
      [`herald_lanes_held{${labels}}`, 0],
      [`herald_failover_continued{${labels}}`, 0],
      [`herald_messages_oldest_due_seconds{${labels}}`, 1],
      [`herald_backlog_rows{${labels}, queue="messages", state="waiting"}`, 5],
      ...QUEUES.map((queue) => [`herald_backlog_oldest_due_seconds{${labels}, queue="${queue}"}`, 1] as const),
      ...SWEEPS.map((sweep) => [`herald_sweep_age_seconds{${labels}, sweep="${sweep}"}`, 2] as const),
      [`herald_webhook_endpoints_failing{${labels}}`, 0],
      [`herald_api_keys_ending{${labels}}`, 0],
      [`herald_connections_payment_missing{${labels}}`, 0],
      [`herald_graph_version_days_left{${labels}, version="v26.0"}`, 400],
      [`herald_contact_book_removals_waiting{${labels}}`, 0],
      [`herald_usage_age_seconds{${labels}}`, 30],
      [`herald_clock_offset_seconds{${labels}}`, -0.01],
      [`herald_database_oldest_xmin_seconds{${labels}, holder="session"}`, 0],
      [`herald_standby_read{${labels}, standby="1"}`, 1],
      [`herald_database_connections{${labels}, state="waiting"}`, 0],
      [`nodejs_eventloop_lag_p99_seconds{${labels}}`, 0.02],
      [`herald_overloads_total{${labels}}`, 0],
    ]),
  ),
  [`${REQUESTS}{${API}, route="/api/v1/messages", method="POST", status="202"}`]: { rise: 75 },
  // A load balancer asks a process that is not ready as well.
  [`${REQUESTS}{${API}, route="/health/ready", method="GET", status="503"}`]: { rise: 30 },
  [`${REQUESTS}{${API}, route="/api/v1/messages", method="POST", status="503"}`]: 0,
  [`${REQUESTS}{${API}, route="/api/v1/messages", method="POST", status="500"}`]: 0,
  [`caddy_http_requests_total{${PROXY}}`]: { rise: 75 },
  [`caddy_http_request_errors_total{${PROXY}}`]: 0,
  [`herald_send_accepted_total{${WORKER}}`]: { rise: 75 },
  [`herald_otp_accepted_total{${WORKER}}`]: { rise: 15 },
  [`herald_send_outcomes_total{${WORKER}, outcome="accepted", category="none"}`]: { rise: 75 },
  ...Object.fromEntries(
    [
      'send_rejected',
      'send_deferred',
      'send_unknown',
      'otp_failed',
      'otp_guessing_alarms',
      'media_fetch_storage_full',
      'notifications_failed',
      'notifications_refused',
      'notifications_unknown',
      'contact_book_failed',
      'webhook_disabled_gone',
      'webhook_disabled_failing',
    ].map((name) => [`herald_${name}_total{${WORKER}}`, 0]),
  ),
};

/** The healthy series whose text has all of these. */
const seriesWith = (...texts: string[]): string[] => {
  const found = Object.keys(HEALTHY).filter((series) => texts.every((text) => series.includes(text)));
  if (found.length === 0) throw new Error(`no series has ${texts.join(' and ')}`);
  return found;
};
const all = (course: Course, ...texts: string[]): Record<string, Course> =>
  Object.fromEntries(seriesWith(...texts).map((series) => [series, course]));

interface Case {
  fault: string;
  /** Courses of series from the fault on. */
  changed: Record<string, Course>;
  /** Alerts that fire after `minutes`, all of them. */
  fires: string[];
  /** Default: 2. */
  minutes?: number;
}

const READ_FROM_DATABASE = [
  'lanes_held',
  'failover_continued',
  'backlog_rows',
  'oldest_due_seconds',
  'sweep_age',
  'endpoints_failing',
  'keys_ending',
];
const NO_POST = `${REQUESTS}{${API}, route="/api/v1/messages", method="POST", status="202"}`;

const UNAVAILABLE = `herald_send_outcomes_total{${WORKER}, outcome="deferred", category="platform_unavailable"}`;
const REFUSED = `herald_send_outcomes_total{${WORKER}, outcome="lane_paused", category="authentication"}`;

const CASES: Case[] = [
  { fault: 'none', changed: {}, fires: [] },
  {
    fault: 'PostgreSQL is down',
    changed: {
      ...all(0, 'part="database"'),
      ...all(0, 'part="sweeps"'),
      ...all(0, 'queue_reachable'),
      ...Object.assign({}, ...READ_FROM_DATABASE.map((name) => all('gone', name))),
      [NO_POST]: { rise: 0 },
      ...all({ rise: 75 }, 'route="/api/v1/messages"', 'status="503"'),
    },
    fires: ['HeraldBlind', 'HeraldNotReady', 'HeraldQueueUnreachable', 'HeraldRequestsFail'],
  },
  {
    fault: 'the database of one process takes no writes',
    changed: all(0, 'part="database"', 'api-1'),
    fires: ['HeraldNotReady'],
  },
  { fault: 'migrations are missing', changed: all(0, 'part="migrations"'), fires: ['HeraldNotReady'] },
  { fault: 'nothing is measured of sweeps', changed: all('gone', 'sweep_age'), fires: ['HeraldBlind'] },
  {
    fault: 'a tenth of the requests is refused',
    changed: all({ rise: 9 }, 'route="/api/v1/messages"', 'status="503"'),
    fires: ['HeraldRequestsFail'],
  },
  {
    fault: 'a fiftieth of the requests is refused',
    changed: all({ rise: 1 }, 'route="/api/v1/messages"', 'status="503"'),
    fires: [],
  },
  {
    fault: 'few requests end in 500',
    changed: all({ rise: 1 }, 'route="/api/v1/messages"', 'status="500"'),
    fires: ['HeraldErrors'],
    minutes: 10,
  },
  {
    fault: 'a worker hangs',
    changed: { ...all('gone', 'worker-1'), ...all(0, 'up{', 'worker-1') },
    fires: ['HeraldDown'],
  },
  {
    fault: 'all workers are gone from the list of processes',
    changed: { ...all('gone', 'worker-1'), ...all({ rise: 15 }, 'sweep_age', 'api-1') },
    fires: ['HeraldDown', 'HeraldSweepSilent'],
  },
  { fault: 'Redis is away', changed: all(0, 'queue_reachable'), fires: ['HeraldQueueUnreachable'] },
  {
    fault: 'the storage of files is away',
    changed: all(0, 'media_storage_available', 'worker-1'),
    fires: ['HeraldStorageAway'],
  },
  {
    fault: 'WhatsApp does not answer, after much traffic',
    changed: {
      ...all({ rise: 0 }, 'send_accepted'),
      ...all({ rise: 0 }, 'category="none"'),
      [UNAVAILABLE]: { rise: 5 },
    },
    fires: ['HeraldPlatformAway'],
  },
  { fault: 'WhatsApp does not answer a tenth of the sends', changed: { [UNAVAILABLE]: { rise: 7 } }, fires: [] },
  { fault: 'WhatsApp refuses a token, once', changed: { [REFUSED]: 1 }, fires: ['HeraldNumberRefused'] },
  { fault: 'a process stops', changed: all(0, 'part="accepting"', 'api-1'), fires: [] },
  {
    fault: 'a worker is killed again and again',
    changed: all({ rise: 15 }, 'process_start_time', 'worker-1'),
    fires: ['HeraldRestarts'],
    minutes: 1,
  },
  { fault: 'a release replaces all', changed: all(2_000, 'process_start_time'), fires: [], minutes: 10 },
  {
    fault: 'the proxy answers a tenth of the requests itself',
    changed: all({ rise: 8 }, 'caddy_http_request_errors'),
    fires: ['HeraldProxyAnswers'],
  },
  { fault: 'a caller gives up now and then', changed: all({ rise: 1 }, 'caddy_http_request_errors'), fires: [] },
  { fault: 'a webhook endpoint fails', changed: all(1, 'endpoints_failing'), fires: ['HeraldEndpointFails'] },
  { fault: 'a webhook endpoint is disabled', changed: all(1, 'disabled_failing'), fires: ['HeraldEndpointDisabled'] },
  { fault: 'a payment method is missing', changed: all(1, 'payment_missing'), fires: ['HeraldPaymentMissing'] },
  { fault: 'the Graph version ends', changed: all(59, 'days_left'), fires: ['HeraldGraphVersionEnds'] },
  {
    fault: 'WhatsApp sends a new field',
    changed: all(1, 'notifications_unknown'),
    fires: ['HeraldNotificationsUnknown'],
  },
  {
    fault: 'another app owns conversations',
    changed: {
      [`herald_send_outcomes_total{${WORKER}, outcome="rejected", category="not_conversation_owner"}`]: { rise: 5 },
    },
    fires: ['HeraldConversationsElsewhere'],
  },
  {
    fault: 'the contact book keeps an erased person',
    changed: { ...all({ rise: 1 }, 'contact_book_failed'), ...all(1, 'removals_waiting') },
    fires: ['HeraldContactBookFails'],
  },
  { fault: 'usage is not counted', changed: all({ rise: 15 }, 'usage_age'), fires: ['HeraldUsageOld'], minutes: 20 },
  {
    fault: 'the clock of a host is a year ahead',
    changed: all(31_536_000, 'clock_offset', 'worker-1'),
    fires: ['HeraldClockWrong'],
  },
  { fault: 'the clock of a host is behind', changed: all(-3, 'clock_offset', 'api-1'), fires: ['HeraldClockWrong'] },
  { fault: 'a key ends', changed: all(1, 'keys_ending'), fires: ['HeraldKeysEnd'] },
  { fault: 'claims are blocked', changed: all(1, 'lanes_held'), fires: ['HeraldLanesHeld'] },
  { fault: 'Herald went on after a failover', changed: all(1, 'failover_continued'), fires: ['HeraldFailedOver'] },
  {
    fault: 'messages are late',
    changed: all({ rise: 15 }, 'messages_oldest_due'),
    fires: ['HeraldMessagesLate'],
    minutes: 10,
  },
  {
    fault: 'webhooks are late',
    changed: all({ rise: 15 }, 'backlog_oldest_due', 'webhooks'),
    fires: ['HeraldBacklogLate'],
    minutes: 15,
  },
  {
    fault: 'codes cannot be sent',
    changed: all({ rise: 6 }, 'otp_failed'),
    fires: ['HeraldCodesFail'],
    minutes: 15,
  },
  { fault: "a workspace's storage is full", changed: all(1, 'storage_full'), fires: ['HeraldStorageFull'] },
  { fault: 'codes are guessed', changed: all(1, 'guessing'), fires: ['HeraldGuessing'] },
  { fault: 'outcomes are unknown', changed: all({ rise: 5 }, 'send_unknown'), fires: ['HeraldOutcomesUnknown'] },
  {
    fault: 'WhatsApp refuses messages',
    changed: all({ rise: 40 }, 'send_rejected'),
    fires: ['HeraldSendsRefused'],
    minutes: 25,
  },
  {
    fault: 'notifications are forged',
    changed: all(80, 'notifications_refused'),
    fires: ['HeraldNotificationsRefused'],
  },
  {
    fault: 'notifications are given up',
    changed: all(1, 'notifications_failed'),
    fires: ['HeraldNotificationsFailed'],
  },
  {
    fault: 'a transaction stays open',
    changed: all(2_000, 'oldest_xmin'),
    fires: ['HeraldOldTransaction'],
    minutes: 6,
  },
  { fault: 'a standby is away', changed: all(0, 'standby_read'), fires: ['HeraldStandbyNotRead'], minutes: 7 },
  { fault: 'the pool is exhausted', changed: all(20, 'state="waiting"'), fires: ['HeraldPoolExhausted'], minutes: 3 },
  {
    fault: 'a process is overloaded',
    changed: all({ rise: 1 }, 'overloads', 'api-1'),
    fires: ['HeraldOverloaded'],
    minutes: 3,
  },
  { fault: 'the event loop is slow', changed: all(0.5, 'eventloop'), fires: ['HeraldEventLoopSlow'], minutes: 6 },
];

/** In the notation of promtool: `1+5x9` is a value and nine more, each higher by five. */
function valuesOf(
  healthy: number | { rise: number } | undefined,
  course: Course | undefined,
  faultySamples: number,
): string {
  if (healthy === undefined) {
    const [first, rise] = typeof course === 'object' ? [course.rise, course.rise] : [course, 0];
    return `_x${HEALTHY_SAMPLES} ${first}+${rise}x${faultySamples}`;
  }
  const rise = typeof healthy === 'number' ? 0 : healthy.rise;
  const first = typeof healthy === 'number' ? healthy : 0;
  const before = `${first}+${rise}x${HEALTHY_SAMPLES - 1}`;
  const last = first + rise * (HEALTHY_SAMPLES - 1);
  if (course === 'gone') return `${before} stale`;
  if (course === undefined) return `${before} ${last + rise}+${rise}x${faultySamples}`;
  return typeof course === 'number'
    ? `${before} ${course}+0x${faultySamples}`
    : `${before} ${last + course.rise}+${course.rise}x${faultySamples}`;
}

function promtoolTestOf({ fault, changed, fires, minutes = 2 }: Case): object {
  const faultySamples = (minutes * 60) / EVERY_SECONDS;
  return {
    name: fault,
    interval: `${EVERY_SECONDS}s`,
    input_series: [...new Set([...Object.keys(HEALTHY), ...Object.keys(changed)])].map((series) => ({
      series,
      values: valuesOf(HEALTHY[series], changed[series], faultySamples),
    })),
    promql_expr_test: [
      {
        expr: 'count by (alertname) (ALERTS{alertstate="firing"}) > bool 0',
        eval_time: `${FAULT_AT_MINUTES + minutes}m`,
        exp_samples: fires.map((alertname) => ({ labels: `{alertname="${alertname}"}`, value: 1 })),
      },
    ],
  };
}

describe('deploy/prometheus/herald.rules.yml', () => {
  it('has a case for each alert', () => {
    const { groups } = parseYaml(readProjectFile(RULES)) as { groups: { rules: { alert: string }[] }[] };
    const alerts = groups.flatMap(({ rules }) => rules.map(({ alert }) => alert));
    expect([...new Set(CASES.flatMap(({ fires }) => fires))].sort()).toEqual(alerts.sort());
  });

  (hasPromtool ? it : it.skip)('fires what a fault asks for and nothing else, as promtool finds', () => {
    const folder = mkdtempSync(join(tmpdir(), 'herald-promtool-'));
    try {
      const file = join(folder, 'herald.rules.test.yml');
      const tests = CASES.map(promtoolTestOf);
      writeFileSync(
        file,
        JSON.stringify({ rule_files: [resolve(RULES)], evaluation_interval: `${EVERY_SECONDS}s`, tests }),
      );
      const checked = spawnSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' });
      expect([checked.status, checked.stderr]).toEqual([0, '']);
      const { status, stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
      expect(`${stdout}${stderr}`).toContain('SUCCESS');
      expect(status).toBe(0);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  (hasPromtool ? it : it.skip).each(CONFIGURATIONS)('is in %s, which promtool takes', (file) => {
    const { status, stderr } = spawnSync('promtool', ['check', 'config', '--syntax-only', file], { encoding: 'utf8' });
    expect([status, stderr]).toEqual([0, '']);
  });

  it('finds an api and a worker among the targets of both configurations', () => {
    const [compose, alone] = CONFIGURATIONS.map((file) => parseYaml(readProjectFile(file)) as Configuration);
    const jobOf = (config: Configuration | undefined) =>
      config?.scrape_configs.find((job) => job.job_name === 'herald');
    expect(jobOf(compose)?.dns_sd_configs?.[0]?.names).toEqual(['api', 'worker']);
    expect(jobOf(compose)?.relabel_configs).toEqual([{ source_labels: ['__meta_dns_name'], target_label: 'role' }]);
    expect(jobOf(alone)?.static_configs?.map(({ labels }) => labels?.role)).toEqual(['api', 'worker']);
  });

  it('leads to one receiver, whatever the severity', () => {
    const { groups } = parseYaml(readProjectFile(RULES)) as { groups: { rules: { labels: { severity: string } }[] }[] };
    const severities = groups.flatMap(({ rules }) => rules.map(({ labels }) => labels.severity));
    expect([...new Set(severities)].sort()).toEqual(['page', 'ticket']);
    const { route, receivers } = parseYaml(readProjectFile('deploy/alertmanager/alertmanager.yml')) as {
      route: { receiver: string; routes: { receiver: string; matchers: string[] }[] };
      receivers: { name: string }[];
    };
    expect([route, ...route.routes].map(({ receiver }) => receiver)).toEqual(['on-call', 'on-call']);
    expect(receivers.map(({ name }) => name)).toEqual(['on-call']);
    expect(route.routes.flatMap(({ matchers }) => matchers)).toEqual(['severity="ticket"']);
  });
});
