import type { Command } from 'commander';
import { describeError } from '../../common/describe-error.js';
import { parseUrl } from '../../common/parse-url.js';
import { SECRET_PATTERN } from '../../common/standard-webhooks.js';
import type { HeraldClient } from '../../../clients/typescript/src/client.js';
import type { Post, ProbeAnswer } from '../../modules/webhook/conformance/conformance.types.js';
import { type TargetOptions, targetOf } from '../api/client.js';
import { secretArgument } from '../arguments.js';
import { type Answer, padded, paint } from '../output.js';
import { action, UsageError, withTarget } from '../runner.js';

type Report = Awaited<ReturnType<HeraldClient['webhook']['verify']>>;

/** The same limit as for a delivery. */
const ANSWER_WITHIN_MS = 10_000;
const LOCAL_NAMES = new Set(['127.0.0.1', 'localhost', '[::1]']);

interface VerifyOptions {
  receiver?: string;
  secret?: string;
}

/** `webhook verify`. */
export function addVerify(webhook: Command): void {
  const command = webhook
    .command('verify')
    .description('send the receiver everything that may ever come, and say what it does wrong and how to mend it')
    .option('--receiver <url>', 'check this program on this machine instead, such as http://localhost:8080/webhook')
    .option(
      '--secret <secret>',
      'with --receiver: the secret that it verifies with, whsec_..., or - for standard input',
    );
  action<VerifyOptions & TargetOptions>(withTarget(command), async ({ receiver, secret, url, key }) => {
    if (receiver === undefined && secret !== undefined) throw new UsageError('--secret belongs to --receiver');
    if (receiver !== undefined) return answerOf(await checkLocal(receiver, secret));
    const { api } = await targetOf({ url, key });
    return answerOf(await api.webhook.verify());
  });
}

/** @throws UsageError for an address on another machine: Herald itself checks those. */
export async function checkLocal(receiver: string, given: string | undefined): Promise<Report> {
  const url = parseUrl(receiver);
  if (url === null || !/^https?:$/.test(url.protocol) || !LOCAL_NAMES.has(url.hostname))
    throw new UsageError('--receiver takes an address of this machine: http://127.0.0.1:<port>/, localhost or [::1]');
  if (given === undefined) throw new UsageError('--receiver needs --secret: the one that the receiver verifies with');
  const secret = await secretArgument(given);
  if (!new RegExp(SECRET_PATTERN).test(secret))
    throw new UsageError('--secret is whsec_ and the base64 of 24 to 64 bytes');
  // The service loads the API description with its examples, which no other command needs.
  const { checkLocalReceiver } = await import('../../modules/webhook/conformance/conformance.service.js');
  return checkLocalReceiver(secret, postTo(url.href));
}

/** Makes deliveries to a program on this machine, in the same form as Herald's. */
export function postTo(url: string): Post {
  return async (signature, body, signal): Promise<ProbeAnswer> => {
    const startedAt = performance.now();
    const timeout = AbortSignal.timeout(ANSWER_WITHIN_MS);
    try {
      const response = await fetch(url, {
        method: 'POST',
        body,
        headers: { 'content-type': 'application/json', ...signature },
        redirect: 'manual',
        signal: AbortSignal.any([signal, timeout]),
      });
      await response.body?.cancel();
      return { status: response.status, durationMs: performance.now() - startedAt };
    } catch (error) {
      const word = timeout.aborted ? 'timeout' : describeError(error);
      return { error: word, durationMs: performance.now() - startedAt };
    }
  };
}

const MARKS = { passed: paint.good('ok'), failed: paint.bad('wrong'), not_run: paint.faint('not run') } as const;
const MARK_WIDTH = 9;

/** One line per delivery, its fault below it, and a summary. Exit code 1 for any fault. */
export function answerOf(report: Report): Answer {
  const lines = report.results.flatMap(({ outcome, title, http_status: status, error, problem, fix }) => {
    const answered = status ?? error;
    const line = `${padded(MARKS[outcome], MARK_WIDTH)}${title}${answered === null ? '' : paint.faint(`  ${answered}`)}`;
    return problem === null ? [line] : [line, `${' '.repeat(MARK_WIDTH)}${problem} ${paint.name(fix ?? '')}`];
  });
  const count = (outcome: string): number => report.results.filter((result) => result.outcome === outcome).length;
  const sum = [`${count('passed')} of ${report.results.length} right`, `${count('failed')} wrong`];
  if (!report.complete) sum.push(`${count('not_run')} not run: mend the rest first, then run it again`);
  return { data: report, text: [...lines, '', sum.join(', ')].join('\n'), failed: !report.passed };
}
