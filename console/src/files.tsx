import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearch } from 'wouter';
import { api, curlOf, type Schemas } from './api.ts';
import { ButtonLink, SelectField } from './controls.tsx';
import { AskButton } from './dialog.tsx';
import { useGo } from './go.ts';
import { useFresh } from './live.ts';
import { type MediaFile, MediaPreview, MediaThumb, sizeText, Upload, useMediaLink } from './media-file.tsx';
import { useConnections } from './messages.tsx';
import { Bar, DetailBar, More, PaneRow, Place } from './panes.tsx';
import { Facts, peerOf, plusNumber, State, Time, withParameter } from './parts.tsx';
import { useData, useList } from './queries.ts';
import { useCan } from './session.ts';
import { Icon } from './icon.tsx';
import { ago, Choice, Empty, Loading, Status, useNow } from './ui.tsx';

const PAGE = 50;
const CLOCK_MS = 30_000;
const LOOK_MS = 2_000;
const USES_SHOWN = 5;
const TYPES = ['image', 'video', 'audio', 'document', 'sticker'] as const;
const DIRECTIONS = [
  ['outbound', 'uploaded'],
  ['inbound', 'received'],
] as const;

const nameOf = ({ filename, type, voice }: MediaFile): string => filename ?? (voice ? 'voice message' : type);

export function FilesPage({ selected }: { selected: string | null }) {
  const search = useSearch();
  const navigate = useGo();
  const can = useCan();
  const connections = useConnections();
  const given = new URLSearchParams(search);
  const filters = {
    ...pick(given, 'type', TYPES),
    ...pick(given, 'direction', ['outbound', 'inbound'] as const),
    ...(given.get('connection') !== null && { connection_id: given.get('connection') ?? '' }),
  };
  const { list, rows } = useList(['media', filters], (cursor, signal) =>
    api.GET('/api/v1/media', { params: { query: { ...filters, ...cursor, limit: PAGE } }, signal }),
  );
  const { refetch } = list;
  useFresh(refetch, (type) => type.startsWith('media.') || type === 'message.received');
  const now = useNow(CLOCK_MS);
  const suffix = search === '' ? '' : `?${search}`;
  const path = selected === null ? '/media' : `/media/${selected}`;
  const choose = (name: string) => (value: string) => navigate(path + withParameter(search, name, value));
  const query = new URLSearchParams({ ...filters, limit: String(PAGE) }).toString();
  return (
    <div className={selected === null ? 'panes' : 'panes has-detail'}>
      <section className="pane-list" aria-label="Files">
        <Bar inPane title="Files" curl={curlOf('GET', `/api/v1/media?${query}`)} />
        <div className="filters pane-filters">
          <Choice label="Any type" value={filters.type ?? ''} onChange={choose('type')}>
            {TYPES.map((type) => [type, type])}
          </Choice>
          <Choice label="Both ways" value={filters.direction ?? ''} onChange={choose('direction')}>
            {DIRECTIONS}
          </Choice>
          {(connections.data?.length ?? 0) > 1 && (
            <Choice label="Any number" value={filters.connection_id ?? ''} onChange={choose('connection')}>
              {(connections.data ?? []).map(({ id, phone_number }) => [id, plusNumber(phone_number)])}
            </Choice>
          )}
        </div>
        {can('media:write') && (connections.data?.length ?? 0) > 0 && (
          <UploadFor connections={connections.data ?? []} onUploaded={(id) => navigate(`/media/${id}${suffix}`)} />
        )}
        <div className="pane-rows" tabIndex={-1}>
          <Loading of={list} lines={10} />
          {list.isSuccess && rows.length === 0 && (
            <Empty
              title={search === '' ? 'No files yet' : 'No file matches'}
              says="What you upload and what customers send appears here."
            />
          )}
          {rows.map((row) => (
            <PaneRow key={row.id} href={`/media/${row.id}${suffix}`} isSelected={row.id === selected}>
              <MediaThumb file={row} />
              <bdi className="name">{nameOf(row)}</bdi>
              <time dateTime={row.created_at}>{ago(row.created_at, now)}</time>
              <span className="last">
                <Icon name={row.direction === 'outbound' ? 'out' : 'in'} />
                {row.direction === 'outbound' ? 'uploaded' : 'received'}
                {row.size_bytes !== null && ` · ${sizeText(row.size_bytes)}`}
              </span>
              <small>{row.status === 'stored' ? row.type : row.status}</small>
            </PaneRow>
          ))}
          <More list={list} />
        </div>
      </section>
      {selected === null ? (
        <Place
          title="Choose a file"
          says="The file, and the messages that use it, appear here."
          isShown={rows.length > 0}
        />
      ) : (
        <FileDetail key={selected} id={selected} suffix={suffix} onDeleted={() => navigate(`/media${suffix}`)} />
      )}
    </div>
  );
}

/** A parameter of the address, where it is one of the values that the API takes. */
function pick<N extends string, V extends string>(
  given: URLSearchParams,
  name: N,
  values: readonly V[],
): { [K in N]?: V } {
  const value = values.find((one) => one === given.get(name));
  return (value === undefined ? {} : { [name]: value }) as { [K in N]?: V };
}

interface UploadProps {
  connections: readonly Schemas['ConnectionResponse'][];
  onUploaded: (id: string) => void;
}

/** A file is uploaded for one number, which sends it. */
function UploadFor({ connections, onUploaded }: UploadProps) {
  const queries = useQueryClient();
  const [connection, setConnection] = useState(connections[0]?.id ?? '');
  return (
    <div className="pane-form form">
      {connections.length > 1 && (
        <SelectField
          label="Upload for the number"
          value={connection}
          options={connections.map(({ id, phone_number, verified_name }) => [
            id,
            `${plusNumber(phone_number)} ${verified_name}`,
          ])}
          onValue={setConnection}
        />
      )}
      <Upload
        connectionId={connection}
        onDone={({ id }) => {
          void queries.invalidateQueries({ queryKey: ['media'] });
          onUploaded(id);
        }}
      />
    </div>
  );
}

function FileDetail({ id, suffix, onDeleted }: { id: string; suffix: string; onDeleted: () => void }) {
  const can = useCan();
  const queries = useQueryClient();
  const params = { path: { id } };
  const file = useData(['media-one', id], (signal) => api.GET('/api/v1/media/{id}', { params, signal }), {
    // Herald is fetching it; a key may not read the event that says that it came.
    refetchInterval: ({ state }) => (state.data?.status === 'pending' ? LOOK_MS : false),
  });
  const isStored = file.data?.status === 'stored';
  const save = useMediaLink(id, 'attachment', isStored);
  const path = `/api/v1/media/${id}`;
  return (
    <section className="pane-detail" aria-label="File">
      <DetailBar
        back={`/media${suffix}`}
        name={file.data === undefined ? 'File' : nameOf(file.data)}
        id={id}
        curl={curlOf('GET', path)}
      />
      <div className="panel-body">
        <Loading of={file} lines={8} />
        {file.data !== undefined && (
          <>
            <div className="media-box">
              {isStored && <MediaPreview file={file.data} />}
              {file.data.status === 'pending' && <p className="hint">Herald is fetching it from WhatsApp …</p>}
              {file.data.status === 'failed' && <p className="hint">Herald could not fetch it from WhatsApp.</p>}
            </div>
            <div className="row">
              {save.data !== undefined && (
                <a className="button" href={save.data} download>
                  <Icon name="down" />
                  Save
                </a>
              )}
              {can('media:write') && (
                <AskButton
                  button="Delete"
                  title="Delete this file?"
                  says="Its bytes are deleted here and at WhatsApp, and links to it end. A queued message that needs it fails. This cannot be undone."
                  label="Delete"
                  curl={curlOf('DELETE', path)}
                  run={() => api.DELETE('/api/v1/media/{id}', { params })}
                  onDone={() => {
                    void queries.invalidateQueries({ queryKey: ['media'] });
                    onDeleted();
                  }}
                />
              )}
            </div>
            <FileFacts file={file.data} />
            {can('messages:read') && <Uses id={id} />}
          </>
        )}
      </div>
    </section>
  );
}

function FileFacts({ file }: { file: MediaFile }) {
  return (
    <Facts
      of={[
        [
          'State',
          <State key="state" tone={file.status === 'failed' ? 'bad' : file.status === 'stored' ? 'good' : 'none'}>
            {file.status}
          </State>,
        ],
        ['Way', file.direction === 'outbound' ? 'uploaded here' : 'sent by a customer'],
        ['Type', `${file.voice ? 'voice message' : file.type} (${file.mime_type})`],
        ['Size', file.size_bytes === null ? null : sizeText(file.size_bytes)],
        ['Since', <Time key="since" at={file.created_at} />],
        ['Kept until', file.expires_at === null ? 'you delete it' : <Time key="until" at={file.expires_at} />],
        ['SHA-256', file.sha256 === null ? null : <code key="hash">{file.sha256}</code>],
      ]}
    />
  );
}

/** The latest messages that send it, or that brought it. */
function Uses({ id }: { id: string }) {
  const now = useNow(CLOCK_MS);
  const query = { media_object_id: id, limit: USES_SHOWN + 1 };
  const uses = useData(['media-uses', id], (signal) => api.GET('/api/v1/messages', { params: { query }, signal }));
  const { refetch } = uses;
  useFresh(refetch);
  return (
    <section aria-label="Used by">
      <h2>Used by</h2>
      <Loading of={uses} lines={2} />
      {uses.data?.length === 0 && <p className="hint">No message uses it.</p>}
      {uses.data?.slice(0, USES_SHOWN).map((message) => (
        <Link key={message.id} href={`/messages/${message.id}`} className="use-row">
          <span>
            {message.direction === 'outbound' ? 'to' : 'from'} <bdi>{peerOf(message)}</bdi>
          </span>
          <Status status={message.status} />
          <time dateTime={message.created_at}>{ago(message.created_at, now)}</time>
        </Link>
      ))}
      {(uses.data?.length ?? 0) > USES_SHOWN && (
        <ButtonLink quiet label="All of them" href={`/messages?q=${encodeURIComponent(`file:${id}`)}`} />
      )}
    </section>
  );
}
