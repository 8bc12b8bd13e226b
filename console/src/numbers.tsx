import { useQueryClient } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { api, ApiError, curlOf, dataOf, type Schemas } from './api.ts';
import { BackLink, Button, ButtonLink, SelectField } from './controls.tsx';
import { useFresh } from './live.ts';
import { useConnections } from './messages.tsx';
import { useRun } from './dialog.tsx';
import { Bar, PaneRow, Place } from './panes.tsx';
import { Facts, NoNumber, plusNumber, Quality, State, Time, type Tone } from './parts.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';
import { CopyButton, Loading, Problem } from './ui.tsx';

type Connection = Schemas['ConnectionResponse'];
type Profile = Schemas['ProfileResponse'];
type ProfileChange = Schemas['UpdateProfileRequest'];

const TONES: Readonly<Record<Connection['status'], Tone>> = {
  connected: 'good',
  pending: 'none',
  restricted: 'warn',
  disconnected: 'bad',
};

/** What the reason means, and who can fix it. */
const REASONS: Readonly<Record<NonNullable<Connection['status_reason']>, string>> = {
  token_refused:
    'WhatsApp refuses the access token. The operator must store a valid one; messages wait until then, and fail when their time is over.',
  disconnected_by_operator: 'The operator disconnected this number. Only the operator can connect it again.',
  platform: 'WhatsApp reports this state. WhatsApp Manager shows why, and what to do.',
  account_removed:
    'The WhatsApp account was removed from the app or from WhatsApp. The operator must add it in WhatsApp Manager again.',
  payment_missing:
    'The account has no valid payment method. The operator must add or repair it in WhatsApp Manager; messages that cost are refused until then.',
};

export function NumbersPage({ selected }: { selected: string | null }) {
  const connections = useConnections();
  const { refetch } = connections;
  useFresh(refetch, (type) => type === 'connection.updated');
  const rows = connections.data ?? [];
  // With one number there is nothing to choose.
  const shown =
    rows.find(({ id }) => id === selected) ?? (rows.length === 1 && selected === null ? rows[0] : undefined);
  return (
    <div className={shown === undefined && selected === null ? 'panes' : 'panes has-detail'}>
      <section className="pane-list" aria-label="Numbers">
        <Bar inPane title="Numbers" curl={curlOf('GET', '/api/v1/connections')} />
        <div className="pane-rows">
          <Loading of={connections} lines={4} />
          {connections.isSuccess && rows.length === 0 && <NoNumber />}
          {rows.map((row) => (
            <PaneRow key={row.id} href={`/numbers/${row.id}`} isSelected={row.id === shown?.id}>
              <bdi className="name">{row.verified_name ?? plusNumber(row.phone_number)}</bdi>
              <State tone={TONES[row.status]}>{row.status}</State>
              <span className="last">{plusNumber(row.phone_number)}</span>
            </PaneRow>
          ))}
        </div>
      </section>
      {shown === undefined ? (
        <Place
          title={selected === null ? 'Choose a number' : 'This workspace has no such number'}
          says="Its state and its business profile appear here."
          isShown={connections.isSuccess && rows.length > 0}
        />
      ) : (
        <NumberDetail key={shown.id} connection={shown} isAlone={rows.length === 1} />
      )}
    </div>
  );
}

function NumberDetail({ connection, isAlone }: { connection: Connection; isAlone: boolean }) {
  const can = useCan();
  const { id, phone_number: number, verified_name: name, status, status_reason: reason } = connection;
  return (
    <section className="pane-detail" aria-label="Number">
      <header className="panel-bar">
        {!isAlone && <BackLink href="/numbers" />}
        <span className="detail-name">
          <bdi>{name ?? plusNumber(number)}</bdi>
          {name !== null && <small>{plusNumber(number)}</small>}
        </span>
        <span className="grow" />
        <CopyButton quiet text={id} label="id" />
      </header>
      <div className="panel-body">
        <section className={TONES[status] === 'bad' ? 'explanation bad' : 'explanation'} aria-label="State">
          <p>
            <State tone={TONES[status]}>{status}</State>
          </p>
          <p>{sentenceOf(connection)}</p>
          {reason !== null && (
            <p className="code">
              <code>{reason}</code>
            </p>
          )}
        </section>
        <Facts
          of={[
            ['Quality', <Quality key="quality" rating={connection.quality_rating} />],
            ['Limit', limitWords(connection.messaging_limit)],
            ['Throughput', throughputWords(connection.throughput_per_second)],
            ['Marketing', marketingWords(connection)],
            [
              'Charged',
              connection.service_charged_since === null ? null : (
                <>
                  service messages since <Time at={connection.service_charged_since} />: the free ones of this month are
                  used up
                </>
              ),
            ],
            ['Time zone', connection.timezone],
            ['Added', <Time key="added" at={connection.created_at} />],
          ]}
        />
        {can('messages:read') && (
          <div className="row">
            <ButtonLink label="Messages" href={`/messages?q=${encodeURIComponent(`connection:${id}`)}`} />
            <ButtonLink
              label="What waits"
              href={`/messages?q=${encodeURIComponent(`status:queued connection:${id}`)}`}
            />
          </div>
        )}
        {/* WhatsApp tells nothing of a disconnected number. */}
        {can('profile:read') && status !== 'disconnected' && (
          <ProfileSection id={id} name={name ?? plusNumber(number)} />
        )}
      </div>
    </section>
  );
}

function sentenceOf({ status, status_reason: reason }: Connection): string {
  if (reason !== null) return REASONS[reason] ?? reason.replaceAll('_', ' ');
  if (status === 'connected') return 'The number sends and receives.';
  if (status === 'pending') return 'WhatsApp has not confirmed the number yet; Herald asks again by itself.';
  return 'WhatsApp Manager shows why, and what to do.';
}

/** `TIER_2K`: the customers that a business may write to first in 24 hours. */
function limitWords(limit: string | null): string {
  if (limit === null) return 'WhatsApp has not said it yet';
  if (limit === 'TIER_UNLIMITED') return 'no limit of new conversations';
  const size = /^TIER_(\d+)(K?)$/.exec(limit);
  if (size === null) return limit;
  const people = Number(size[1]) * (size[2] === 'K' ? 1_000 : 1);
  return `${people.toLocaleString('en')} people in 24 hours, where the business writes first`;
}

/** WhatsApp gives so few only to a number that is in its app too. */
const IN_THE_APP_TOO = 20;

const throughputWords = (perSecond: number): string =>
  `${perSecond} messages a second${perSecond === IN_THE_APP_TOO ? ': the number is in the WhatsApp Business app too' : ''}`;

function marketingWords({ marketing_route: route, marketing_status: status }: Connection): string {
  if (route === 'messages') return 'by the endpoint of all messages';
  return status === 'ONBOARDED' ? 'by WhatsApp’s endpoint of marketing messages' : 'by the endpoint of all messages';
}

function ProfileSection({ id, name }: { id: string; name: string }) {
  const can = useCan();
  const [editing, setEditing] = useState(false);
  const path = `/api/v1/connections/${id}/profile`;
  const profile = useData(['profile', id], (signal) =>
    api.GET('/api/v1/connections/{id}/profile', { params: { path: { id } }, signal }),
  );
  return (
    <section aria-label="Business profile">
      <div className="row section-bar">
        <h2>Business profile</h2>
        <span className="grow" />
        <CopyButton quiet label="curl" text={curlOf('GET', path)} />
        {can('profile:write') && profile.data !== undefined && !editing && (
          <Button label="Edit" onClick={() => setEditing(true)} />
        )}
      </div>
      <Loading of={profile} lines={5} />
      {profile.data !== undefined && !editing && <ProfileCard profile={profile.data} name={name} />}
      {profile.data !== undefined && editing && (
        <ProfileForm id={id} path={path} profile={profile.data} onDone={() => setEditing(false)} />
      )}
    </section>
  );
}

const verticalWords = (vertical: string): string =>
  (VERTICALS[vertical] ?? vertical.replaceAll('_', ' ').toLowerCase()).replace(/^./, (first) => first.toUpperCase());

/** As WhatsApp shows the business to a customer. */
function ProfileCard({ profile, name }: { profile: Profile; name: string }) {
  const { about, address, description, email, vertical, websites, profile_picture_url: picture } = profile;
  const isEmpty = [about, address, description, email].every((value) => value === null) && websites.length === 0;
  return (
    <div className="profile-card">
      <span className="avatar" aria-hidden="true">
        {[...name.replace(/^\+/, '')][0]?.toUpperCase()}
      </span>
      <strong dir="auto">{name}</strong>
      {about !== null && <p dir="auto">{about}</p>}
      {vertical !== null && vertical !== 'UNDEFINED' && <small>{verticalWords(vertical)}</small>}
      {isEmpty && <p className="hint">Nothing is written yet.</p>}
      <Facts
        of={[
          ['Description', description === null ? null : <span dir="auto">{description}</span>],
          ['Address', address === null ? null : <span dir="auto">{address}</span>],
          ['Email', email],
          ['Websites', websites.length === 0 ? null : websites.map((site) => <bdi key={site}>{site} </bdi>)],
          [
            'Picture',
            picture === null || !picture.startsWith('https://') ? null : (
              <a href={picture} target="_blank" rel="noreferrer">
                Open at WhatsApp
              </a>
            ),
          ],
          ['Changed here', profile.updated_at === null ? null : <Time key="changed" at={profile.updated_at} />],
        ]}
      />
    </div>
  );
}

const VERTICALS: Readonly<Record<string, string>> = {
  OTHER: 'other',
  AUTO: 'cars',
  BEAUTY: 'beauty',
  APPAREL: 'clothes',
  EDU: 'education',
  ENTERTAIN: 'entertainment',
  EVENT_PLAN: 'events',
  FINANCE: 'finance',
  GROCERY: 'groceries',
  GOVT: 'public service',
  HOTEL: 'hotel',
  HEALTH: 'health',
  NONPROFIT: 'non-profit',
  PROF_SERVICES: 'professional services',
  RETAIL: 'retail',
  TRAVEL: 'travel',
  RESTAURANT: 'restaurant',
  ALCOHOL: 'alcohol',
  ONLINE_GAMBLING: 'online gambling',
  PHYSICAL_GAMBLING: 'gambling',
  OTC_DRUGS: 'over-the-counter medicine',
};

type Draft = Record<'about' | 'address' | 'description' | 'email' | 'vertical' | 'first' | 'second', string>;

const draftOf = (profile: Profile): Draft => ({
  about: profile.about ?? '',
  address: profile.address ?? '',
  description: profile.description ?? '',
  email: profile.email ?? '',
  vertical: VERTICALS[profile.vertical ?? ''] === undefined ? '' : (profile.vertical ?? ''),
  first: profile.websites[0] ?? '',
  second: profile.websites[1] ?? '',
});

/** Only what differs is sent. */
function changeOf(profile: Profile, draft: Draft): ProfileChange {
  const before = draftOf(profile);
  const change: ProfileChange = {};
  for (const name of ['about', 'address', 'description', 'email'] as const) {
    if (draft[name] !== before[name]) change[name] = draft[name];
  }
  if (draft.vertical !== before.vertical && draft.vertical !== '') {
    change.vertical = draft.vertical;
  }
  if (draft.first !== before.first || draft.second !== before.second) {
    change.websites = [draft.first, draft.second].map((site) => site.trim()).filter(Boolean);
  }
  return change;
}

const TEXTS = [
  ['about', 'About', 139, 1],
  ['description', 'Description', 512, 3],
  ['address', 'Address', 256, 1],
  ['email', 'Email', 128, 1],
  ['first', 'Website', 256, 1],
  ['second', 'Second website', 256, 1],
] as const;

interface ProfileFormProps {
  id: string;
  path: string;
  profile: Profile;
  onDone: () => void;
}

function ProfileForm({ id, path, profile, onDone }: ProfileFormProps) {
  const queries = useQueryClient();
  // As it was when the form was opened: what others change meanwhile is no change of this form.
  const [before] = useState(profile);
  const [draft, setDraft] = useState(() => draftOf(before));
  const { busy, error, run } = useRun();
  const change = changeOf(before, draft);
  const isSame = Object.keys(change).length === 0;
  const emptied = change.about?.trim() === '';
  const save = (event: FormEvent): Promise<void> => {
    event.preventDefault();
    return run(async () => {
      const answer = await dataOf(
        api.PUT('/api/v1/connections/{id}/profile', { params: { path: { id } }, body: change }),
      );
      queries.setQueryData(['profile', id], answer.data);
      onDone();
    });
  };
  return (
    <form className="form" onSubmit={(event) => void save(event)}>
      {TEXTS.map(([name, label, longest, rows]) => (
        <label key={name} className="field">
          <span>
            {label}
            {draft[name].length > longest - 20 && ` (${draft[name].length} of ${longest})`}
          </span>
          {rows > 1 ? (
            <textarea
              dir="auto"
              rows={rows}
              maxLength={longest}
              value={draft[name]}
              onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
            />
          ) : (
            <input
              dir="auto"
              type={name === 'email' ? 'email' : 'text'}
              placeholder={name === 'first' || name === 'second' ? 'https://' : ''}
              maxLength={longest}
              value={draft[name]}
              onChange={(event) => setDraft({ ...draft, [name]: event.target.value })}
            />
          )}
        </label>
      ))}
      <SelectField
        label="Branch"
        value={draft.vertical}
        options={[['', 'Not said'], ...Object.keys(VERTICALS).map((vertical) => [vertical, verticalWords(vertical)])]}
        onValue={(value) => setDraft({ ...draft, vertical: value })}
      />
      {emptied && <p className="check-line bad">WhatsApp takes no empty “About”.</p>}
      {error !== null && <Problem error={error} />}
      {error instanceof ApiError && error.status === 0 && <p className="hint">Saving again does no harm.</p>}
      <div className="row">
        <Button submit primary label="Save" disabled={busy || isSame || emptied} />
        <Button label="Back" onClick={onDone} />
        <CopyButton quiet label="curl" text={curlOf('PUT', path, change)} />
      </div>
    </form>
  );
}
