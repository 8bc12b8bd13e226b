import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { api, curlOf, dataOf, isAway, type Schemas } from './api.ts';
import { useAttempt } from './attempt.ts';
import { Button, SelectField, TextField } from './controls.tsx';
import { useGo } from './go.ts';
import { PaneRow } from './panes.tsx';
import { Facts, plusNumber, share, State, TableBox, Time, type Tone, withParameter } from './parts.tsx';
import { useData } from './queries.ts';
import { useCan, useSession } from './session.ts';
import { Icon } from './icon.tsx';
import {
  Choice,
  clockTime,
  CopyButton,
  duration,
  Empty,
  Loading,
  Problem,
  Skeleton,
  startTime,
  useNow,
} from './ui.tsx';

type Code = Schemas['OtpChallengeResponse'];
type Figures = Schemas['CodeFiguresResponse'];

const LOOK_MS = 1_500;
const OPEN_STATES = new Set<Code['status']>(['queued', 'sending', 'sent', 'delivered', 'read']);
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DAY_MS = 86_400_000;
const PERIODS = [
  ['1', '24 hours'],
  ['7', '7 days'],
  ['30', '30 days'],
  ['90', '90 days'],
] as const;
const DEFAULT_DAYS = '30';
const KEPT_CODES = 20;

interface Sent {
  project: string;
  code: Code;
}
/** What this page sent: the API has no list of codes. The first answer of a sandbox alone has the code. */
let sentHere: readonly Sent[] = [];

/** Codes of an OTP project: sends one, checks one, and counts them. */
export function CodesPage({ selected }: { selected: string | null }) {
  const can = useCan();
  const { keys, active } = useSession();
  const project = keys[active]?.facts.otp_project ?? null;
  const navigate = useGo();
  const [, setSent] = useState(0);
  if (project === null) return null;
  const mine = sentHere.filter((one) => one.project === project.id);
  return (
    <div className={selected === null ? 'panes' : 'panes has-detail'}>
      <section className="pane-list" aria-label="Codes">
        <header className="panel-bar">
          <h1>Codes</h1>
          <bdi className="hint project-name">{project.name}</bdi>
          <span className="grow" />
          <State tone={project.mode === 'live' ? 'good' : 'none'}>{project.mode}</State>
        </header>
        {can('otp:send') && (
          <SendCode
            isSandbox={project.mode === 'sandbox'}
            onSent={(code) => {
              sentHere = [{ project: project.id, code }, ...sentHere].slice(0, KEPT_CODES);
              setSent(sentHere.length);
              navigate(`/codes/${code.id}`);
            }}
          />
        )}
        {can('otp:read') && <FindCode />}
        <div className="pane-rows" tabIndex={-1}>
          {mine.length > 0 && <h2 className="pane-title">Sent on this page</h2>}
          {mine.map(({ code }) => (
            <PaneRow key={code.id} href={`/codes/${code.id}`} isSelected={code.id === selected}>
              <span className="name">{plusNumber(code.recipient)}</span>
              <time dateTime={code.created_at}>{clockTime(code.created_at)}</time>
            </PaneRow>
          ))}
        </div>
      </section>
      {selected === null ? (
        <section className="pane-detail" aria-label="Usage">
          {can('otp:read') ? (
            <CodeUsage />
          ) : (
            <Empty title="This key may not see counts">
              <p>
                It needs the scope <code>otp:read</code>.
              </p>
            </Empty>
          )}
        </section>
      ) : (
        <CodeDetail key={selected} id={selected} first={mine.find(({ code }) => code.id === selected)?.code ?? null} />
      )}
    </div>
  );
}

function SendCode({ isSandbox, onSent }: { isSandbox: boolean; onSent: (code: Code) => void }) {
  const [to, setTo] = useState(isSandbox ? '+15550001234' : '');
  const [ttl, setTtl] = useState('300');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const attempt = useAttempt();
  const body = { to, ttl: Number(ttl) };
  const send = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      const header = attempt.headerFor(body);
      const { data } = await dataOf(api.POST('/api/v1/otp/send', { params: { header }, body }));
      attempt.end();
      onSent(data);
    } catch (failure) {
      if (!isAway(failure)) attempt.end();
      setError(failure);
    }
    setBusy(false);
  };
  return (
    <form className="form pane-form" aria-label="Send a code" onSubmit={(event) => void send(event)}>
      <div className="field-row">
        <TextField
          label="To"
          inputMode="tel"
          autoComplete="off"
          placeholder="+4915112345678"
          value={to}
          onText={setTo}
        />
        <SelectField
          label="Valid for"
          value={ttl}
          options={[
            ['60', '1 minute'],
            ['300', '5 minutes'],
            ['600', '10 minutes'],
          ]}
          onValue={setTtl}
        />
      </div>
      {error !== null && <Problem error={error} />}
      <div className="row">
        <Button submit primary label="Send a code" disabled={busy || to.trim() === ''} />
        <CopyButton quiet label="curl" text={curlOf('POST', '/api/v1/otp/send', body)} />
      </div>
      {isSandbox && <p className="hint">A sandbox sends nothing: the page shows the code.</p>}
    </form>
  );
}

function FindCode() {
  const [, navigate] = useLocation();
  const [id, setId] = useState('');
  const isId = UUID.test(id.trim());
  return (
    <form
      className="pane-form"
      role="search"
      onSubmit={(event) => {
        event.preventDefault();
        if (isId) navigate(`/codes/${id.trim()}`);
      }}
    >
      <label className="search">
        <Icon name="search" />
        <span className="hidden">Find a code by its id</span>
        <input
          type="search"
          autoComplete="off"
          spellCheck={false}
          placeholder="The id of a code"
          value={id}
          onChange={(event) => setId(event.target.value)}
        />
      </label>
      {id.trim() !== '' && !isId && <p className="hint warn-text">That is no whole id.</p>}
    </form>
  );
}

const TONES: Readonly<Record<Code['status'], Tone>> = {
  queued: 'none',
  sending: 'none',
  sent: 'none',
  delivered: 'none',
  read: 'none',
  verified: 'good',
  outcome_unknown: 'warn',
  expired: 'warn',
  failed: 'bad',
};

const SAYS: Readonly<Record<Code['status'], string>> = {
  queued: 'It is about to be sent.',
  sending: 'It is being sent.',
  sent: 'WhatsApp took it. The user has not typed it yet.',
  delivered: 'It is on the user’s phone. The user has not typed it yet.',
  read: 'The user saw it, and has not typed it yet.',
  verified: 'The user typed the right code.',
  outcome_unknown: 'It is not known whether WhatsApp took it. The user may ask for another one.',
  expired: 'Its time is over. The user may ask for another one.',
  failed: 'It could not be sent, or its guesses are used up.',
};

function CodeDetail({ id, first }: { id: string; first: Code | null }) {
  const can = useCan();
  const code = useData(['code', id], (signal) => api.GET('/api/v1/otp/{id}', { params: { path: { id } }, signal }), {
    enabled: can('otp:read'),
    ...(first !== null && { initialData: first, initialDataUpdatedAt: 0 }),
    refetchInterval: ({ state }) =>
      state.data !== undefined && OPEN_STATES.has(state.data.status) && Date.parse(state.data.expires_at) > Date.now()
        ? LOOK_MS
        : false,
  });
  const { data } = code;
  const now = useNow(1_000);
  const left = data === undefined ? 0 : Math.max(Date.parse(data.expires_at) - now, 0);
  const isOpen = data !== undefined && OPEN_STATES.has(data.status) && left > 0;
  return (
    <section className="pane-detail" aria-label="Code">
      <header className="panel-bar">
        <Link href="/codes" className="button quiet" aria-label="Close">
          <Icon name="close" />
        </Link>
        <span className="detail-name">{data === undefined ? 'Code' : plusNumber(data.recipient)}</span>
        <span className="grow" />
        <CopyButton quiet text={id} label="id" />
        <CopyButton quiet text={curlOf('GET', `/api/v1/otp/${id}`)} label="curl" />
      </header>
      <div className="panel-body">
        {code.isPending && can('otp:read') && <Skeleton lines={6} />}
        {code.error !== null && <Problem error={code.error} onRetry={() => void code.refetch()} />}
        {data !== undefined && (
          <>
            <section
              className={TONES[data.status] === 'bad' ? 'explanation bad' : 'explanation'}
              aria-label="State"
              aria-live="polite"
            >
              <p>
                <State tone={TONES[data.status]}>{data.status.replaceAll('_', ' ')}</State>
              </p>
              <p>
                {data.mode === 'sandbox' && isOpen
                  ? 'A sandbox sends nothing. The code can be typed.'
                  : SAYS[data.status]}
              </p>
              {data.error !== null && (
                <p className="code">
                  <code>{data.error}</code>
                </p>
              )}
            </section>
            {first?.test_code !== undefined && isOpen && (
              <p className="test-code">
                The sandbox’s code: <code>{first.test_code}</code>
              </p>
            )}
          </>
        )}
        {can('otp:verify') && (data === undefined || isOpen) && (
          <VerifyCode id={id} code={data} onDone={() => void code.refetch()} />
        )}
        {data !== undefined && (
          <>
            <Steps code={data} />
            <Facts
              of={[
                ['Guesses left', String(data.attempts_remaining)],
                [
                  'Valid until',
                  <>
                    <Time at={data.expires_at} />
                    {isOpen && ` (${duration(left)} left)`}
                  </>,
                ],
                ['Mode', data.mode],
              ]}
            />
          </>
        )}
      </div>
    </section>
  );
}

/** When it reached which state. */
function Steps({ code }: { code: Code }) {
  const steps = [
    ['requested', code.created_at],
    ['sent', code.sent_at],
    ['delivered', code.delivered_at],
    ['read', code.read_at],
    ['verified', code.verified_at],
  ] as const;
  return (
    <ol className="steps" aria-label="States">
      {steps.map(([name, at]) => (
        <li key={name} className={at === null ? '' : 'is-done'}>
          <i aria-hidden="true" />
          <span>{name}</span>
          {at === null ? <span className="hint">not yet</span> : <Time at={at} />}
        </li>
      ))}
    </ol>
  );
}

function VerifyCode({ id, code, onDone }: { id: string; code: Code | undefined; onDone: () => void }) {
  const [typed, setTyped] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const verify = async (event: FormEvent): Promise<void> => {
    event.preventDefault();
    setBusy(true);
    setError(null);
    try {
      await api.POST('/api/v1/otp/verify', { body: { id, code: typed } });
      setTyped('');
    } catch (failure) {
      setError(failure);
    }
    setBusy(false);
    onDone();
  };
  return (
    <form className="form" aria-label="Verify" onSubmit={(event) => void verify(event)}>
      <TextField
        label="What the user typed"
        className="code-field"
        inputMode="numeric"
        autoComplete="off"
        maxLength={6}
        placeholder="six digits"
        value={typed}
        onText={(text) => setTyped(text.replaceAll(/\D/g, ''))}
      />
      {error !== null && <Problem error={error} />}
      <div className="row">
        <Button submit primary label="Verify" disabled={busy || typed.length !== 6} />
        <CopyButton quiet label="curl" text={curlOf('POST', '/api/v1/otp/verify', { id, code: typed || '123456' })} />
      </div>
      <p className="hint">
        A wrong code uses up one of the guesses
        {code === undefined
          ? '.'
          : `: ${code.attempts_remaining} ${code.attempts_remaining === 1 ? 'is' : 'are'} left.`}
      </p>
    </form>
  );
}

const BARS: readonly (readonly [keyof Figures, string, Tone])[] = [
  ['requested', 'requested', 'none'],
  ['sent', 'sent', 'none'],
  ['delivered', 'delivered', 'none'],
  ['verified', 'verified', 'good'],
  ['expired', 'expired', 'warn'],
  ['failed', 'failed', 'bad'],
];

const countryNames = new Intl.DisplayNames('en', { type: 'region' });
const countryOf = (code: string | null): string =>
  code === null ? 'erased' : /^[A-Z]{2}$/.test(code) ? (countryNames.of(code) ?? code) : code;

/** How many codes went how far, in all and by day and country. */
function CodeUsage() {
  const search = useSearch();
  const [, navigate] = useLocation();
  const wanted = new URLSearchParams(search).get('days') ?? DEFAULT_DAYS;
  const days = PERIODS.some(([value]) => value === wanted) ? wanted : DEFAULT_DAYS;
  const interval = days === '1' ? ('hour' as const) : ('day' as const);
  const usage = useQuery({
    queryKey: ['code-usage', days],
    queryFn: async ({ signal }) => {
      const { timeZone } = new Intl.DateTimeFormat().resolvedOptions();
      const since = new Date(Date.now() - Number(days) * DAY_MS).toISOString();
      return dataOf(
        api.GET('/api/v1/usage/codes', { params: { query: { since, interval, timezone: timeZone } }, signal }),
      );
    },
  });
  const { data } = usage;
  const rows = data?.data.toReversed() ?? [];
  return (
    <>
      <header className="panel-bar">
        <h2>Usage</h2>
        <Choice
          label="30 days"
          value={days === DEFAULT_DAYS ? '' : days}
          onChange={(value) => navigate(`/codes${withParameter(search, 'days', value)}`)}
        >
          {PERIODS.filter(([value]) => value !== DEFAULT_DAYS)}
        </Choice>
        <span className="grow" />
        {data !== undefined && data.as_of !== null && (
          <small className="hint wide">
            counted until <Time at={data.as_of} />
          </small>
        )}
        <CopyButton quiet label="curl" text={curlOf('GET', `/api/v1/usage/codes?interval=${interval}`)} />
      </header>
      <div className="panel-body">
        <Loading of={usage} lines={8} />
        {data !== undefined && rows.length === 0 && (
          <Empty title="No codes in this time" says="They are counted a few minutes after they were sent." />
        )}
        {data !== undefined && rows.length > 0 && (
          <>
            <Funnel figures={data.totals} />
            <TableBox
              label="By time and country"
              columns={[interval === 'hour' ? 'Hour' : 'Day', 'Country']}
              figures={BARS.map(([, label]) => label)}
              isBare
            >
              {rows.map((row) => (
                <tr key={`${row.start} ${row.country}`}>
                  <td>
                    <time dateTime={row.start}>{startTime(row.start, interval)}</time>
                  </td>
                  <td>{countryOf(row.country)}</td>
                  {BARS.map(([name]) => (
                    <td key={name} className="number">
                      {row[name].toLocaleString('en')}
                    </td>
                  ))}
                </tr>
              ))}
            </TableBox>
          </>
        )}
      </div>
    </>
  );
}

function Funnel({ figures }: { figures: Figures }) {
  const most = Math.max(figures.requested, 1);
  return (
    <dl className="funnel" aria-label="In all">
      {BARS.map(([name, label, tone]) => (
        <div key={name}>
          <dt>{label}</dt>
          <dd>
            <span className={`track is-${tone}`} aria-hidden="true">
              {figures[name] > 0 && <i style={{ width: `${(figures[name] / most) * 100}%` }} />}
            </span>
            <b>{figures[name].toLocaleString('en')}</b>
            <small>{share(figures[name], most)}</small>
          </dd>
        </div>
      ))}
    </dl>
  );
}
