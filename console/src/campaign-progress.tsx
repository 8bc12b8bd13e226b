import type { Finding, Progress } from './campaign-run.ts';
import { numberText } from './campaign-parts.tsx';

export type Running = 'check' | 'send';

interface RunProps {
  progress: Progress;
  total: number;
  running: Running | null;
  /** It went through all lines. */
  ended: Running | null;
  tag: string;
  when: string;
}

/** How far it is, and what came of it. */
export function RunProgress({ progress, total, running, ended, when }: RunProps) {
  const { done, good, known, refused, waits } = progress;
  const isCheck = (running ?? ended) === 'check';
  return (
    <div aria-live="polite">
      {running !== null && (
        <progress aria-label={isCheck ? 'Checked lines' : 'Sent lines'} value={done} max={Math.max(total, 1)} />
      )}
      <p>
        {running !== null && `${isCheck ? 'Checks' : 'Sends'}: ${numberText(done)} of ${numberText(total)} lines. `}
        {ended !== null && (isCheck ? 'All lines are checked. ' : 'All lines are done. ')}
        {numberText(good)} {isCheck ? 'can be sent' : when === 'now' ? 'queued' : 'handed in'}
        {known > 0 && `, ${numberText(known)} were sent before`}
        {refused > 0 && `, ${numberText(refused)} ${isCheck ? 'cannot be sent' : 'were not sent'}`}.
        {waits !== null && <span className="hint"> It {waits}.</span>}
      </p>
      {running === 'send' && (
        <p className="hint">
          Leave this page open. If it is closed, open it again and drop the file: it goes on, and sends nothing twice.
        </p>
      )}
    </div>
  );
}

const WORDS: Readonly<Record<string, string>> = {
  IDEMPOTENCY_KEY_REUSED:
    'Under this name the recipient has another text already. It is not sent; give the campaign another name to send it.',
};

/** What was refused and what may not arrive, by its code, with the lines. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  return findings.map(({ code, message, isBad, count, lines }) => (
    <details key={code} className={isBad ? 'check-line bad' : 'check-line warn'}>
      <summary>
        <code>{code}</code> {numberText(count)} {count === 1 ? 'line' : 'lines'}: {WORDS[code] ?? message}
      </summary>
      <p>
        {lines.map(({ line, recipient }) => `line ${line} (${recipient})`).join(', ')}
        {count > lines.length && ` and ${numberText(count - lines.length)} more`}
      </p>
    </details>
  ));
}
