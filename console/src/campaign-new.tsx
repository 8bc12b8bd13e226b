import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useMemo, useRef, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, dataOf, type Schemas } from './api.ts';
import { type Line, linesOf, matchColumns, readTable, recipientColumn, type Table } from './campaign-file.ts';
import { Findings, type Running, RunProgress } from './campaign-progress.tsx';
import { NOTHING, type Progress, runLines } from './campaign-run.ts';
import { numberText } from './campaign-parts.tsx';
import { Button, Radios, SelectField, TextField } from './controls.tsx';
import { FileDrop, type MediaFile } from './media-file.tsx';
import { useConnections } from './messages.tsx';
import { NoNumber, plusNumber } from './parts.tsx';
import { BLANK, contentOf, type Draft, FileChooser, headerFormat, keyOf, variablesOf } from './send-content.tsx';
import { useCan, useSession } from './session.ts';
import { Empty, Problem, Skeleton } from './ui.tsx';

type Template = Schemas['TemplateResponse'];
type When = 'now' | 'paused' | 'at';

const TAG = /^[A-Za-z0-9_:-][A-Za-z0-9._:-]{0,63}$/;
const PROBLEMS_SHOWN = 20;
const SAMPLE_ROWS = 3;
const DAY_MS = 86_400_000;

/** What is chosen stands in the address, so that after a reload only the file is missing. No line of the file does. */
function useChoices(): [URLSearchParams, (changes: Record<string, string>) => void] {
  const search = useSearch();
  const [, navigate] = useLocation();
  const set = (changes: Record<string, string>): void => {
    const next = new URLSearchParams(search);
    for (const [name, value] of Object.entries(changes)) {
      if (value === '') next.delete(name);
      else next.set(name, value);
    }
    navigate(`/campaigns?${next}`, { replace: true });
  };
  return [new URLSearchParams(search), set];
}

export function NewCampaign({ onBack }: { onBack: () => void }) {
  const can = useCan();
  const connections = useConnections();
  if (!can('messages:write') || !can('templates:read') || !can('connections:read')) {
    return (
      <Empty title="This key may not start a campaign" isPage>
        <p>
          It needs the scopes <code>messages:write</code>, <code>templates:read</code> and <code>connections:read</code>
          .
        </p>
      </Empty>
    );
  }
  if (connections.isPending) return <Skeleton lines={8} />;
  if (connections.error !== null) {
    return <Problem error={connections.error} onRetry={() => void connections.refetch()} />;
  }
  if (connections.data === undefined || connections.data.length === 0) return <NoNumber />;
  return <CampaignForm connections={connections.data} onBack={onBack} />;
}

interface FormProps {
  connections: readonly Schemas['ConnectionResponse'][];
  onBack: () => void;
}

function CampaignForm({ connections, onBack }: FormProps) {
  const [choices, set] = useChoices();
  const connection = choices.get('connection') ?? connections[0]?.id ?? '';
  const tag = choices.get('tag') ?? '';
  const templates = useQuery({
    queryKey: ['templates', connection, 'approved'],
    queryFn: async () => {
      const params = { path: { id: connection }, query: { status: 'approved' as const, limit: 100 } };
      return (await dataOf(api.GET('/api/v1/connections/{id}/templates', { params }))).data;
    },
  });
  const template = templates.data?.find(({ id }) => id === choices.get('template')) ?? null;
  const [file, setFile] = useState<MediaFile | null>(null);
  const [table, setTable] = useState<{ name: string; table: Table } | null>(null);
  const draft: Draft = { ...BLANK, connection, to: '', kind: 'template', template: template?.id ?? '', file };
  const needsFile = headerFormat(template);
  const isReady = TAG.test(tag) && template !== null && (needsFile === null || file !== null);
  return (
    <div className="campaign-new">
      <header className="row">
        <h1>New campaign</h1>
        <span className="grow" />
        <Button label="Back" onClick={onBack} />
      </header>
      <section className="card" aria-label="What is sent">
        <h2>1. What is sent</h2>
        <TextField
          label="Name"
          autoComplete="off"
          maxLength={64}
          placeholder="spring-sale"
          value={tag}
          onText={(text) => set({ tag: text.trim().replaceAll(/\s+/g, '-') })}
        />
        {tag !== '' && !TAG.test(tag) && (
          <p className="note bad">A name has letters, digits and . _ : - and does not begin with a dot.</p>
        )}
        {connections.length > 1 && (
          <SelectField
            label="From"
            value={connection}
            options={connections.map(({ id, phone_number, verified_name }) => [
              id,
              `${verified_name ?? ''} ${plusNumber(phone_number)}`,
            ])}
            onValue={(value) => set({ connection: value, template: '', cols: '' })}
          />
        )}
        <SelectField
          label="Template"
          value={template?.id ?? ''}
          options={[
            ['', templates.isPending ? 'Loading …' : 'Choose an approved template'],
            ...(templates.data?.map(({ id, name, language, category }) => [
              id,
              `${name} · ${language} · ${category.toLowerCase()}`,
            ]) ?? []),
          ]}
          onValue={(value) => set({ template: value, cols: '' })}
        />
        {templates.error !== null && <Problem error={templates.error} onRetry={() => void templates.refetch()} />}
        {needsFile !== null && (
          <FileChooser
            draft={draft}
            set={(changes) => changes.file !== undefined && setFile(changes.file)}
            type={needsFile}
          />
        )}
      </section>
      {template !== null && (
        <section className="card" aria-label="To whom">
          <h2>2. To whom</h2>
          <TableDrop name={table?.name ?? null} onTable={(name, read) => setTable({ name, table: read })} />
          {table !== null && (
            <Recipients
              key={`${template.id} ${table.name}`}
              table={table.table}
              template={template}
              draft={draft}
              tag={tag}
              isReady={isReady}
              cols={choices.get('cols')}
              onCols={(cols) => set({ cols })}
            />
          )}
        </section>
      )}
    </div>
  );
}

function TableDrop({ name, onTable }: { name: string | null; onTable: (name: string, table: Table) => void }) {
  const [error, setError] = useState<string | null>(null);
  const read = async (file: File | undefined): Promise<void> => {
    if (file === undefined) return;
    setError(null);
    try {
      onTable(file.name, readTable(new Uint8Array(await file.arrayBuffer())));
    } catch (failure) {
      setError(failure instanceof Error ? failure.message : 'The file could not be read.');
    }
  };
  return (
    <>
      <FileDrop accept=".csv,.txt,.tsv,text/csv" onFile={(file) => void read(file)}>
        {name === null ? 'Choose a CSV file, or drop it here' : <bdi>{name}</bdi>}
      </FileDrop>
      {name === null && (
        <p className="hint">
          One line a recipient, as Excel or any program saves it. The file stays in this browser: only its messages are
          sent.
        </p>
      )}
      {error !== null && (
        <p className="check-line bad" role="alert">
          {error}
        </p>
      )}
    </>
  );
}

interface RecipientsProps {
  table: Table;
  template: Template;
  draft: Draft;
  tag: string;
  isReady: boolean;
  cols: string | null;
  onCols: (cols: string) => void;
}

/** The column of each thing that a line gives: as chosen, else as their names say. */
function columnsOf(table: Table, variables: readonly { name: string }[], cols: string | null): number[] {
  const chosen = cols?.split(',').map(Number) ?? [];
  const fits = chosen.length === variables.length + 1 && chosen.every((at) => at >= -1 && at < table.columns.length);
  if (fits) return chosen;
  const recipient = recipientColumn(table);
  return [recipient, ...matchColumns(table.columns, recipient, variables)];
}

function Recipients({ table, template, draft, tag, isReady, cols, onCols }: RecipientsProps) {
  const variables = useMemo(() => variablesOf(template), [template]);
  const columns = useMemo(() => columnsOf(table, variables, cols), [table, variables, cols]);
  const [recipient = -1, ...ofVariables] = columns;
  const isMatched = columns.every((at) => at >= 0);
  const read = useMemo(() => {
    const named = variables.map((variable, at) => ({ name: labelOf(variable), column: ofVariables[at] ?? -1 }));
    return isMatched ? linesOf(table, recipient, named) : null;
  }, [table, variables, columns, isMatched]);
  const choose = (index: number, at: number): void => onCols(columns.with(index, at).join(','));
  return (
    <>
      <div className="campaign-columns">
        {['Recipient', ...variables.map(labelOf)].map((label, index) => (
          <label key={label} className="field">
            <span>{label}</span>
            <select value={columns[index] ?? -1} onChange={(event) => choose(index, Number(event.target.value))}>
              <option value={-1} disabled>
                Choose a column
              </option>
              {table.columns.map((name, at) => (
                <option key={at} value={at}>
                  {name}
                </option>
              ))}
            </select>
          </label>
        ))}
      </div>
      <Sample table={table} />
      {read !== null && (
        <>
          <LineProblems problems={read.problems} />
          <p className="hint">
            {numberText(read.lines.length)} of {numberText(table.rows.length)} lines can be sent.
            {read.repeated > 0 &&
              ` ${numberText(read.repeated)} recipients have more than one line, and get a message for each.`}
          </p>
          <Launch lines={read.lines} template={template} draft={draft} tag={tag} isReady={isReady} />
        </>
      )}
    </>
  );
}

const labelOf = ({ component, name, button_index: at }: Template['variables'][number]): string =>
  component === 'button' ? `Button ${(at ?? 0) + 1}` : component === 'header' ? `Header ${name}` : `Variable ${name}`;

function Sample({ table: { columns, rows } }: { table: Table }) {
  return (
    <div className="campaign-sample" tabIndex={0} role="region" aria-label="The first lines of the file">
      <table>
        <thead>
          <tr>
            <th scope="col">Line</th>
            {columns.map((name, at) => (
              <th key={at} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, SAMPLE_ROWS).map(({ line, cells }) => (
            <tr key={line}>
              <td>{line}</td>
              {columns.map((_, at) => (
                <td key={at}>
                  <bdi>{cells[at] ?? ''}</bdi>
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function LineProblems({ problems }: { problems: readonly { line: number; text: string }[] }) {
  if (problems.length === 0) return null;
  return (
    <div className="check-line bad">
      <strong>
        {numberText(problems.length)} {problems.length === 1 ? 'line is' : 'lines are'} not sent
      </strong>
      {problems.slice(0, PROBLEMS_SHOWN).map(({ line, text }) => (
        <p key={line}>
          Line {line}: {text}.
        </p>
      ))}
      {problems.length > PROBLEMS_SHOWN && <p>And {numberText(problems.length - PROBLEMS_SHOWN)} more.</p>}
      <p>Mend the file and drop it again: what was sent is not sent twice.</p>
    </div>
  );
}

type LaunchProps = Pick<RecipientsProps, 'template' | 'draft' | 'tag' | 'isReady'> & { lines: readonly Line[] };

/** Checks and sends; what is under way is stopped when the page is left, and goes on when the file is dropped again. */
function Launch({ lines, template, draft, tag, isReady }: LaunchProps) {
  const { keys, active } = useSession();
  const workspaceId = keys[active]?.facts.workspace.id ?? '';
  const queries = useQueryClient();
  const [when, setWhen] = useState<When>('now');
  const [at, setAt] = useState('');
  const [pace, setPace] = useState('');
  const [running, setRunning] = useState<Running | null>(null);
  const [progress, setProgress] = useState<Progress>(NOTHING);
  const [ended, setEnded] = useState<Running | null>(null);
  const [error, setError] = useState<unknown>(null);
  const life = useRef<AbortController>(undefined);
  useEffect(() => () => life.current?.abort(), []);
  const known = useQuery({
    queryKey: ['campaign-known', tag],
    queryFn: async ({ signal }) => {
      const query = { tag, limit: 1 };
      return (await dataOf(api.GET('/api/v1/messages', { params: { query }, signal }))).data.length > 0;
    },
    enabled: TAG.test(tag),
  });
  const variables = variablesOf(template);
  const messageOf = (line: Line): Record<string, unknown> => {
    const values = Object.fromEntries(variables.map((variable, index) => [keyOf(variable), line.values[index] ?? '']));
    const content = contentOf({ ...draft, to: line.recipient, values }, template) ?? {};
    return { connection_id: draft.connection, to: line.recipient, ...content, tag };
  };
  const plan = async (): Promise<void> => {
    if (known.data === true || (when === 'now' && pace === '')) return;
    const body = {
      paused: when === 'paused',
      ...(when === 'at' && { start_at: new Date(at).toISOString() }),
      ...(pace !== '' && { messages_per_minute: Number(pace) }),
    };
    await api.PUT('/api/v1/tags/{tag}', { params: { path: { tag } }, body });
  };
  const start = async (what: Running): Promise<void> => {
    const ending = new AbortController();
    life.current = ending;
    setError(null);
    setEnded(null);
    setProgress(NOTHING);
    setRunning(what);
    try {
      if (what === 'send') await plan();
      const job = { workspaceId, tag, lines, messageOf, signal: ending.signal, onProgress: setProgress };
      await runLines(job, what);
      if (!ending.signal.aborted) setEnded(what);
    } catch (failure) {
      if (!ending.signal.aborted) setError(failure);
    }
    setRunning(null);
    void queries.invalidateQueries({ queryKey: ['campaigns'] });
    void queries.invalidateQueries({ queryKey: ['campaign-known', tag] });
  };
  const isWhenGiven = when !== 'at' || at !== '';
  const isBlocked = !isReady || lines.length === 0 || running !== null || !isWhenGiven;
  return (
    <div className="campaign-run">
      {known.data === true ? (
        <p className="notice">This campaign has messages already. Lines that were sent are not sent again.</p>
      ) : (
        <Timing when={when} onWhen={setWhen} at={at} onAt={setAt} pace={pace} onPace={setPace} />
      )}
      <Estimate template={template} count={lines.length} />
      {running !== null || ended !== null ? (
        <RunProgress progress={progress} total={lines.length} running={running} ended={ended} tag={tag} when={when} />
      ) : (
        progress.done > 0 && (
          <p className="hint">
            Stopped after {numberText(progress.done)} of {numberText(lines.length)} lines; it goes on where it was.
          </p>
        )
      )}
      <Findings findings={progress.findings} />
      {error !== null && <Problem error={error} />}
      <div className="row">
        {running === null ? (
          <>
            <Button
              primary={ended !== 'check'}
              label="Check all lines"
              disabled={isBlocked}
              onClick={() => void start('check')}
            />
            <Button
              primary={ended === 'check'}
              label={`${when === 'now' || known.data === true ? 'Send' : 'Hand in'} ${numberText(lines.length)} messages`}
              disabled={isBlocked}
              onClick={() => void start('send')}
            />
          </>
        ) : (
          <Button label="Stop" onClick={() => life.current?.abort()} />
        )}
        {!isReady && (
          <span className="hint">Give the campaign a name first, and its template’s file where it has one.</span>
        )}
        {ended === 'send' && <Link href={`/campaigns/${encodeURIComponent(tag)}`}>Open the campaign</Link>}
      </div>
    </div>
  );
}

interface TimingProps {
  when: When;
  onWhen: (when: When) => void;
  at: string;
  onAt: (at: string) => void;
  pace: string;
  onPace: (pace: string) => void;
}

function Timing({ when, onWhen, at, onAt, pace, onPace }: TimingProps) {
  return (
    <>
      <Radios
        label="When"
        value={when}
        options={[
          ['now', 'At once'],
          ['paused', 'When I resume it'],
          ['at', 'At a time'],
        ]}
        onValue={onWhen}
      />
      {when === 'paused' && (
        <p className="hint">Its messages wait until you have looked at them; no time to live runs before.</p>
      )}
      <div className="campaign-columns">
        {when === 'at' && <TextField label="Start" type="datetime-local" value={at} onText={onAt} />}
        <TextField
          label="At most a minute (may be empty)"
          inputMode="numeric"
          placeholder="as fast as the number may"
          value={pace}
          onText={(text) => onPace(text.replaceAll(/\D/g, '').slice(0, 5))}
        />
      </div>
    </>
  );
}

/** As messages of the category cost on average in the last 30 days. */
function Estimate({ template, count }: { template: Template; count: number }) {
  const category = template.category.toLowerCase();
  const usage = useQuery({
    queryKey: ['campaign-price', category],
    queryFn: async ({ signal }) => {
      const query = { category, since: new Date(Date.now() - 30 * DAY_MS).toISOString() };
      return (await dataOf(api.GET('/api/v1/usage', { params: { query }, signal }))).totals;
    },
    staleTime: DAY_MS,
  });
  if (usage.data === undefined) return null;
  const { cost, cost_of_priced: priced, billable } = usage.data;
  const known = cost ?? priced;
  const messages = Object.values(billable).reduce((sum, each) => sum + each, 0);
  if (known === null || messages === 0) {
    return <p className="hint">Its cost is not known: no {category} message with a price was billed in 30 days.</p>;
  }
  const amount = (Number(known.amount) / messages) * count;
  const money = new Intl.NumberFormat(undefined, { style: 'currency', currency: known.currency });
  return (
    <p className="hint">
      About {money.format(amount)}, as {category} messages cost on average in the last 30 days.
    </p>
  );
}
