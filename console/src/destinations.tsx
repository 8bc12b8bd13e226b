import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Button } from './controls.tsx';
import { NewDestination } from './destination-new.tsx';
import { Confirm, useRun } from './dialog.tsx';
import { useGo } from './go.ts';
import { Bar, DetailBar, PaneRow, Place } from './panes.tsx';
import { Facts, State, Time, type Tone } from './parts.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';
import { Empty, fullTime, Loading, Problem } from './ui.tsx';

type Destination = Schemas['DestinationData'];

const PATH = '/api/v1/destinations';
const LOOK_MS = 5_000;
/** The API counts so many waiting events, and one more for any number. */
const COUNTED = 1_000;
const TONES: Readonly<Record<Destination['status'], Tone>> = { active: 'good', failing: 'bad', paused: 'warn' };
const KINDS: Readonly<Record<Destination['kind'], string>> = {
  nats: 'NATS JetStream',
  rabbitmq: 'RabbitMQ',
  sqs: 'Amazon SQS',
};

function useDestinations() {
  return useData(['destinations'], (signal) => api.GET(PATH, { signal }), {
    refetchInterval: LOOK_MS,
  });
}

export function DestinationsPage({ selected }: { selected: string | null }) {
  const can = useCan();
  const navigate = useGo();
  const destinations = useDestinations();
  const queries = useQueryClient();
  const [isMaking, setMaking] = useState(false);
  const rows = destinations.data ?? [];
  const shown = rows.find(({ id }) => id === selected);
  const made = (id: string | null): void => {
    setMaking(false);
    if (id === null) return;
    void queries.invalidateQueries({ queryKey: ['destinations'] });
    navigate(`/destinations/${id}`);
  };
  return (
    <div className={selected === null ? 'panes' : 'panes has-detail'}>
      <section className="pane-list" aria-label="Destinations">
        <Bar inPane title="Destinations" curl={curlOf('GET', PATH)}>
          {can('webhooks:write') && <Button label="New" onClick={() => setMaking(true)} />}
        </Bar>
        <div className="pane-rows">
          <Loading of={destinations} lines={4} />
          {destinations.isSuccess && rows.length === 0 && (
            <Empty
              title="No destination yet"
              says="Herald can write events to a broker of yours, beside the webhook."
            />
          )}
          {rows.map((row) => (
            <PaneRow key={row.id} href={`/destinations/${row.id}`} isSelected={row.id === shown?.id}>
              <bdi className="name">{row.name}</bdi>
              <State tone={TONES[row.status]}>{row.status}</State>
              <span className="last">
                {KINDS[row.kind]} · {waitingOf(row)}
              </span>
            </PaneRow>
          ))}
        </div>
      </section>
      {shown === undefined ? (
        <Place
          title={selected === null ? 'Choose a destination' : 'This workspace has no such destination'}
          says="Its state, and what waits for it, appear here."
          isShown={destinations.isSuccess && (rows.length > 0 || selected !== null)}
        />
      ) : (
        <Detail key={shown.id} of={shown} />
      )}
      {isMaking && <NewDestination onClose={made} />}
    </div>
  );
}

function waitingOf({ waiting }: Destination): string {
  if (waiting === 0) return 'nothing waits';
  return waiting > COUNTED ? `more than ${COUNTED} wait` : `${waiting} wait`;
}

/** Where it writes to, in the words of its kind. */
function placeOf({ nats, rabbitmq, sqs }: Destination): readonly (readonly [string, string])[] {
  if (nats !== undefined) {
    return [
      ['Address', nats.url],
      ['Subject', nats.subject],
    ];
  }
  if (rabbitmq !== undefined) {
    return [
      ['Address', rabbitmq.url],
      ['Exchange', rabbitmq.exchange],
      ['Routing key', rabbitmq.routing_key],
    ];
  }
  return sqs === undefined ? [] : [['Queue', sqs.queue_url]];
}

function sentenceOf({ status, failing_since: failing, retry_at: retry }: Destination): string {
  if (status === 'paused') return 'Events wait in Herald until it is resumed.';
  if (status === 'active') return 'Events are written as they happen.';
  const since = failing === null ? '' : ` since ${fullTime(failing)}`;
  const again = retry === null ? '' : ' Herald tries again, every five minutes at the latest.';
  return `Nothing could be written${since}.${again} docs/event-destinations.md says what to do about the error.`;
}

type Act = 'pause' | 'resume' | 'remove';

function Detail({ of }: { of: Destination }) {
  const can = useCan();
  const queries = useQueryClient();
  const [asking, setAsking] = useState<Act | null>(null);
  const { id, name, kind, status, last_error: error, last_error_at: errorAt } = of;
  const closed = (done: boolean): void => {
    setAsking(null);
    if (done) void queries.invalidateQueries({ queryKey: ['destinations'] });
  };
  return (
    <section className="pane-detail" aria-label={name}>
      <DetailBar back="/destinations" name={name} note={KINDS[kind]} curl={curlOf('GET', `${PATH}/${id}`)} />
      <div className="panel-body">
        <section className={status === 'failing' ? 'explanation bad' : 'explanation'} aria-label="State">
          <p>
            <State tone={TONES[status]}>{status}</State>
          </p>
          <p>{sentenceOf(of)}</p>
        </section>
        <Facts
          of={[
            ...placeOf(of),
            ['Secrets', of.secrets.length === 0 ? 'none' : `${of.secrets.join(', ')}: kept, and never shown`],
            ['Events', of.events.join(', ')],
            ['Numbers', of.connection_ids.length === 0 ? 'all' : String(of.connection_ids.length)],
            ['Waiting', waitingOf(of)],
            ['Oldest', of.waiting_since === null ? null : <Time key="oldest" at={of.waiting_since} />],
            ['Written', String(of.written)],
            ['Last written', of.last_written_at === null ? 'never' : <Time key="written" at={of.last_written_at} />],
            ['Last error', error === null ? 'none' : <code key="error">{error}</code>],
            ['Failed last', errorAt === null ? null : <Time key="failed" at={errorAt} />],
            ['Lost', of.lost === 0 ? 'none' : `${of.lost} events, which were never written`],
          ]}
        />
        {can('webhooks:write') && (
          <>
            <Test id={id} />
            <div className="row">
              <Button
                label={status === 'paused' ? 'Resume' : 'Pause'}
                onClick={() => setAsking(status === 'paused' ? 'resume' : 'pause')}
              />
              {status === 'failing' && <Button label="Try now" onClick={() => setAsking('resume')} />}
              <Button quiet label="Remove" onClick={() => setAsking('remove')} />
            </div>
          </>
        )}
      </div>
      {asking !== null && <Asking act={asking} of={of} onClose={closed} />}
    </section>
  );
}

const SAYS: Readonly<Record<Act, { title: string; says: string; label: string }>> = {
  pause: {
    title: 'Pause',
    says: 'Events wait in Herald, for as long as it keeps them: they are written once it is resumed.',
    label: 'Pause it',
  },
  resume: { title: 'Resume', says: 'What waits is written now, in its order.', label: 'Resume it' },
  remove: {
    title: 'Remove',
    says: 'Nothing more is written to it, and what waits for it is not kept for it. The broker keeps what it has.',
    label: 'Remove it',
  },
};

function Asking({ act, of: { id, name }, onClose }: { act: Act; of: Destination; onClose: (done: boolean) => void }) {
  const params = { path: { id } };
  const { title, says, label } = SAYS[act];
  const isRemoval = act === 'remove';
  return (
    <Confirm
      title={`${title} ${name}?`}
      says={says}
      label={label}
      isRisky={isRemoval}
      curl={isRemoval ? curlOf('DELETE', `${PATH}/${id}`) : curlOf('POST', `${PATH}/${id}/${act}`)}
      run={async () => {
        if (isRemoval) return dataOf(api.DELETE(`${PATH}/{id}`, { params }));
        return act === 'pause'
          ? dataOf(api.POST(`${PATH}/{id}/pause`, { params }))
          : dataOf(api.POST(`${PATH}/{id}/resume`, { params }));
      }}
      onClose={onClose}
    />
  );
}

/** Writes one test event, and says what became of it. */
function Test({ id }: { id: string }) {
  const { error, run } = useRun();
  const [isRunning, setRunning] = useState(false);
  const [outcome, setOutcome] = useState<Schemas['DestinationTestData'] | null>(null);
  const start = async (): Promise<void> => {
    setRunning(true);
    setOutcome(null);
    await run(async () => {
      setOutcome((await dataOf(api.POST(`${PATH}/{id}/test`, { params: { path: { id } } }))).data);
    });
    setRunning(false);
  };
  return (
    <div className="row" role="status">
      <Button label="Test" disabled={isRunning} onClick={() => void start()} />
      {isRunning && <span>Connecting …</span>}
      {outcome !== null && outcome.written && <State tone="good">the broker has the test event</State>}
      {outcome !== null && !outcome.written && <State tone="bad">not written: {outcome.error}</State>}
      {error !== null && <Problem error={error} />}
    </div>
  );
}
