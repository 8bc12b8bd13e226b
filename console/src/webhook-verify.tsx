import { useState } from 'react';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Button } from './controls.tsx';
import { Dialog, useRun } from './dialog.tsx';
import { State, TableBox, type Tone } from './parts.tsx';
import { CopyButton, Problem } from './ui.tsx';

type Report = Schemas['ConformanceData'];
type Result = Report['results'][number];

const OUTCOMES: Readonly<Record<Result['outcome'], readonly [Tone, string]>> = {
  passed: ['good', 'right'],
  failed: ['bad', 'wrong'],
  not_run: ['none', 'not run'],
};

/** Runs the checks of the receiver, and shows what it did wrong first. */
export function VerifyDialog({ onClose }: { onClose: () => void }) {
  const [report, setReport] = useState<Report | null>(null);
  const [isRunning, setRunning] = useState(false);
  const { error, run } = useRun();
  const start = async (): Promise<void> => {
    setRunning(true);
    setReport(null);
    await run(async () => setReport((await dataOf(api.POST('/api/v1/webhook/verify'))).data));
    setRunning(false);
  };
  return (
    <Dialog title="Check the receiver" className="form-dialog verify-dialog" onClose={onClose}>
      <p>
        Sends your receiver everything that may ever come, in up to 25 seconds: each kind of event, repeats, events out
        of order, forgeries. All of it has <code>test: true</code> in its data.
      </p>
      {isRunning && (
        <p className="notice" role="status">
          Running; the answer comes within 25 seconds …
        </p>
      )}
      {error !== null && !isRunning && <Problem error={error} />}
      {report !== null && <Results report={report} />}
      <div className="row">
        <Button
          primary
          label={report === null ? 'Run' : 'Run again'}
          disabled={isRunning}
          onClick={() => void start()}
        />
        <Button label="Close" onClick={onClose} />
        <CopyButton quiet label="curl" text={curlOf('POST', '/api/v1/webhook/verify')} />
      </div>
    </Dialog>
  );
}

function Results({ report }: { report: Report }) {
  const count = (outcome: Result['outcome']): number =>
    report.results.filter((result) => result.outcome === outcome).length;
  const wrong = report.results.filter(({ outcome }) => outcome === 'failed');
  const rest = report.results.filter(({ outcome }) => outcome !== 'failed');
  return (
    <>
      <p role="status">
        {count('passed')} of {report.results.length} right
        {wrong.length > 0 && `, ${wrong.length} wrong`}
        {!report.complete && `, ${count('not_run')} not run`}.
      </p>
      <TableBox label="Results" columns={['Result', 'What was sent']} isBare>
        {[...wrong, ...rest].map((result, index) => (
          <ResultRow key={index} result={result} />
        ))}
      </TableBox>
    </>
  );
}

function ResultRow({ result }: { result: Result }) {
  const [tone, word] = OUTCOMES[result.outcome];
  const answer = result.http_status ?? result.error;
  return (
    <tr>
      <td>
        <State tone={tone}>{word}</State>
      </td>
      <td>
        {result.title}
        {answer !== null && <small> · {answer}</small>}
        {result.problem !== null && (
          <p className="hint">
            {result.problem} <b>{result.fix}</b>
          </p>
        )}
      </td>
    </tr>
  );
}
