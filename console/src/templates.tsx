import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link, useSearch } from 'wouter';
import { api, curlOf, dataOf, type Schemas } from './api.ts';
import { Button, ButtonLink, CheckField, Select } from './controls.tsx';
import { AskButton } from './dialog.tsx';
import { useGo } from './go.ts';
import { useFresh } from './live.ts';
import { useConnections } from './messages.tsx';
import { Bar, DetailBar, More, PaneRow, Place } from './panes.tsx';
import { Facts, NoNumber, plusNumber, Quality, State, TableBox, Time, type Tone, withParameter } from './parts.tsx';
import { useData } from './queries.ts';
import { useCan } from './session.ts';
import { TemplateForm } from './template-form.tsx';
import { TemplateView } from './template-view.tsx';
import { Choice, Empty, ListSearch, Loading } from './ui.tsx';

type Template = Schemas['TemplateResponse'];

const PAGE = 100;
const STATUSES = ['approved', 'pending', 'rejected', 'paused', 'disabled', 'in_appeal', 'pending_deletion'] as const;
const CATEGORIES = ['UTILITY', 'MARKETING', 'AUTHENTICATION'] as const;

const TONES: Readonly<Record<Template['status'], Tone>> = {
  approved: 'good',
  pending: 'none',
  in_appeal: 'none',
  paused: 'warn',
  pending_deletion: 'warn',
  rejected: 'bad',
  disabled: 'bad',
};
const wordsOf = (status: string): string => status.replaceAll('_', ' ');

/** The list, one template, or the form for a new one: `?new`, since a template may be named `new`. */
export function TemplatesPage({ selected }: { selected: string | null }) {
  const can = useCan();
  const connections = useConnections();
  const search = useSearch();
  if (!can('connections:read')) {
    return (
      <Empty title="This key may not see this page">
        <p>
          Templates are those of a number: it needs the scope <code>connections:read</code> too.
        </p>
      </Empty>
    );
  }
  if (connections.data === undefined) {
    return <Loading of={connections} lines={10} />;
  }
  const wanted = new URLSearchParams(search).get('connection');
  const connection = connections.data.find(({ id }) => id === wanted) ?? connections.data[0];
  if (connection === undefined) {
    return <NoNumber />;
  }
  return <Templates connection={connection.id} connections={connections.data} selected={selected} search={search} />;
}

interface TemplatesProps {
  connection: string;
  connections: readonly Schemas['ConnectionResponse'][];
  selected: string | null;
  search: string;
}

function Templates({ connection, connections, selected, search }: TemplatesProps) {
  const navigate = useGo();
  const can = useCan();
  const queries = useQueryClient();
  const given = new URLSearchParams(search);
  const isNew = given.has('new') && can('templates:write');
  const status = STATUSES.find((one) => one === given.get('status'));
  const category = CATEGORIES.find((one) => one === given.get('category'));
  const name = (given.get('name') ?? '').toLowerCase().replaceAll(/[^a-z0-9_]/g, '');
  const filters = {
    ...(status !== undefined && { status }),
    ...(category !== undefined && { category }),
    ...(name !== '' && { name }),
  };
  const list = useInfiniteQuery({
    queryKey: ['templates-of', connection, filters],
    queryFn: ({ pageParam, signal }) =>
      dataOf(
        api.GET('/api/v1/connections/{id}/templates', {
          params: {
            path: { id: connection },
            query: { ...filters, limit: PAGE, ...(pageParam !== null && { after: pageParam }) },
          },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ pagination }) => pagination.next_after,
  });
  const read = (): void => {
    void queries.invalidateQueries({ queryKey: ['templates-of'] });
    void queries.invalidateQueries({ queryKey: ['template-named'] });
  };
  useFresh(read, (type) => type.startsWith('template.'));
  const groups = new Map<string, Template[]>();
  for (const one of list.data?.pages.flatMap(({ data }) => data) ?? []) {
    groups.set(one.name, [...(groups.get(one.name) ?? []), one]);
  }
  const path = selected === null ? '/templates' : `/templates/${selected}`;
  const suffix = withParameter(withParameter(search, 'new', ''), 'language', '');
  const choose = (key: string) => (value: string) => navigate(path + withParameter(search, key, value));
  const query = new URLSearchParams({ ...filters, limit: String(PAGE) }).toString();
  const isDetail = selected !== null || isNew;
  return (
    <div className={isDetail ? 'panes has-detail' : 'panes'}>
      <section className="pane-list" aria-label="Templates">
        <Bar inPane title="Templates" curl={curlOf('GET', `/api/v1/connections/${connection}/templates?${query}`)}>
          {can('templates:write') && <ButtonLink label="New" href={`/templates${withParameter(suffix, 'new', '1')}`} />}
        </Bar>
        <div className="filters pane-filters">
          <ListSearch
            key={connection}
            label="Name"
            value={name}
            clean={(typed) => typed.toLowerCase().replaceAll(/[^a-z0-9_]/g, '_')}
            onText={choose('name')}
          />
          <Choice label="Any state" value={status ?? ''} onChange={choose('status')}>
            {STATUSES.map((one) => [one, wordsOf(one)])}
          </Choice>
          <Choice label="Any category" value={category ?? ''} onChange={choose('category')}>
            {CATEGORIES.map((one) => [one, one.toLowerCase()])}
          </Choice>
          {connections.length > 1 && (
            <Select
              className="chip"
              aria-label="Number"
              value={connection}
              options={connections.map(({ id, phone_number }) => [id, plusNumber(phone_number)])}
              onValue={(value) => navigate(`/templates${withParameter(suffix, 'connection', value)}`)}
            />
          )}
        </div>
        <div className="pane-rows" tabIndex={-1}>
          <Loading of={list} lines={10} />
          {list.isSuccess && groups.size === 0 && (
            <Empty
              title={Object.keys(filters).length === 0 ? 'No templates yet' : 'No template matches'}
              says="A template is what may be sent when a customer has not written for 24 hours."
            />
          )}
          {[...groups].map(([key, versions]) => (
            <PaneRow key={key} href={`/templates/${key}${suffix}`} isSelected={key === selected}>
              <bdi className="name">{key}</bdi>
              <States versions={versions} />
              <span className="last">
                {versions[0]?.category.toLowerCase()} · {versions.map(({ language }) => language).join(', ')}
              </span>
              {versions.some(({ announced_category }) => announced_category !== null) && (
                <small className="warn">category changes</small>
              )}
            </PaneRow>
          ))}
          <More list={list} label="Show more" />
        </div>
      </section>
      {isNew && (
        <section className="pane-detail" aria-label="New template">
          <DetailBar back={`/templates${suffix}`} name="New template" />
          <div className="panel-body">
            <TemplateForm
              connection={connection}
              onDone={(made) => {
                void queries.invalidateQueries({ queryKey: ['templates-of'] });
                void queries.invalidateQueries({ queryKey: ['template-named', connection, made.name] });
                navigate(`/templates/${made.name}${withParameter(suffix, 'language', made.language)}`);
              }}
            />
          </div>
        </section>
      )}
      {!isNew && selected === null && (
        <Place
          title="Choose a template"
          says="It appears here as a phone shows it, with its state and what it needs."
          isShown={groups.size > 0}
        />
      )}
      {!isNew && selected !== null && (
        <TemplateDetail key={`${connection} ${selected}`} connection={connection} name={selected} search={search} />
      )}
    </div>
  );
}

/** The state that all languages have, or how many differ from it. */
function States({ versions }: { versions: readonly Template[] }) {
  const worst = versions.toSorted((a, b) => STATUSES.indexOf(b.status) - STATUSES.indexOf(a.status))[0];
  if (worst === undefined) return null;
  const same = versions.filter(({ status }) => status === worst.status).length;
  return (
    <State tone={TONES[worst.status]}>
      {wordsOf(worst.status)}
      {same < versions.length && ` (${same} of ${versions.length})`}
    </State>
  );
}

interface DetailProps {
  connection: string;
  name: string;
  search: string;
}

function TemplateDetail({ connection, name, search }: DetailProps) {
  const can = useCan();
  const navigate = useGo();
  const queries = useQueryClient();
  const [withExamples, setWithExamples] = useState(true);
  const [editing, setEditing] = useState(false);
  const params = { path: { id: connection, name } };
  const path = `/api/v1/connections/${connection}/templates/${name}`;
  const named = useData(['template-named', connection, name], (signal) =>
    api.GET('/api/v1/connections/{id}/templates/{name}', { params, signal }),
  );
  const versions = named.data?.versions ?? [];
  const wanted = new URLSearchParams(search).get('language');
  const version = versions.find(({ language }) => language === wanted) ?? versions[0];
  const suffix = withParameter(search, 'language', '');
  return (
    <section className="pane-detail" aria-label="Template">
      <DetailBar back={`/templates${suffix}`} name={name} curl={curlOf('GET', path)} />
      <div className="panel-body">
        <Loading of={named} lines={8} />
        {versions.length > 1 && (
          <nav className="tabs" aria-label="Languages">
            {versions.map(({ language, status }) => (
              <Link
                key={language}
                href={`/templates/${name}${withParameter(search, 'language', language)}`}
                aria-current={language === version?.language ? 'true' : undefined}
                onClick={() => setEditing(false)}
              >
                {language}
                {status !== 'approved' && <small>{wordsOf(status)}</small>}
              </Link>
            ))}
          </nav>
        )}
        {version !== undefined && editing && (
          <TemplateForm
            key={version.id}
            connection={connection}
            template={version}
            onCancel={() => setEditing(false)}
            onDone={() => {
              setEditing(false);
              void queries.invalidateQueries({ queryKey: ['templates-of'] });
              void named.refetch();
            }}
          />
        )}
        {version !== undefined && !editing && (
          <>
            <Standing template={version} />
            <div className="row">
              {can('messages:write') && version.status === 'approved' && version.category !== 'AUTHENTICATION' && (
                <Link
                  className="button primary"
                  href={`/send?kind=template&connection=${connection}&template=${version.id}`}
                >
                  Send
                </Link>
              )}
              {can('templates:write') && (
                <>
                  <Button label="Change" onClick={() => setEditing(true)} />
                  <AskButton
                    button="Delete"
                    title={`Delete ${name}?`}
                    says={
                      versions.length > 1
                        ? `All ${versions.length} languages are deleted here and at WhatsApp. WhatsApp takes no new template with the name of an approved one for 30 days.`
                        : 'It is deleted here and at WhatsApp. WhatsApp takes no new template with the name of an approved one for 30 days.'
                    }
                    label="Delete"
                    curl={curlOf('DELETE', path)}
                    run={() => api.DELETE('/api/v1/connections/{id}/templates/{name}', { params })}
                    onDone={() => {
                      void queries.invalidateQueries({ queryKey: ['templates-of'] });
                      navigate(`/templates${suffix}`);
                    }}
                  />
                </>
              )}
            </div>
            <section aria-label="On a phone">
              <div className="row section-bar">
                <h2>On a phone</h2>
                <span className="grow" />
                {version.variables.length > 0 && (
                  <CheckField label="with examples" checked={withExamples} onCheck={setWithExamples} />
                )}
              </div>
              <TemplateView parts={version.components} withExamples={withExamples} />
            </section>
            <TemplateFacts template={version} />
          </>
        )}
      </div>
    </section>
  );
}

const STANDING: Readonly<Record<Template['status'], string>> = {
  approved: 'It can be sent.',
  pending: 'WhatsApp reviews it. It can be sent once it is approved.',
  rejected: 'WhatsApp rejected it. Change it, and it is reviewed again.',
  paused:
    'WhatsApp paused it after recipients blocked or reported it. The pause ends by itself; a third one disables the template.',
  disabled: 'WhatsApp disabled it: it cannot be sent any more. Make a new one with other words.',
  in_appeal: 'WhatsApp looks again at its decision. It can be sent once it is approved.',
  pending_deletion: 'It is being deleted: do not use it any more.',
};
const REJECTIONS: Readonly<Record<string, string>> = {
  ABUSIVE_CONTENT: 'WhatsApp found its content abusive.',
  INVALID_FORMAT: 'Its form is wrong: often variables without words between them, or without useful examples.',
  INCORRECT_CATEGORY: 'Its content is not of the category that was given.',
  TAG_CONTENT_MISMATCH: 'Its content or language is not what category and language say.',
  PROMOTIONAL: 'It advertises, which its category does not allow.',
  SCAM: 'WhatsApp takes it for a scam.',
};

function Standing({ template }: { template: Template }) {
  const { status, platform_status: own, rejected_reason: reason } = template;
  const { category, announced_category: announced, announced_for: from } = template;
  return (
    <>
      <section className={TONES[status] === 'bad' ? 'explanation bad' : 'explanation'} aria-label="State">
        <p>
          <State tone={TONES[status]}>{wordsOf(status)}</State>
        </p>
        <p>{STANDING[status]}</p>
        {reason !== null && reason !== 'NONE' && (
          <p className="code">
            <code>{reason}</code> {REJECTIONS[reason] ?? ''}
          </p>
        )}
        {own.toLowerCase() !== status && (
          <p className="code">
            WhatsApp’s word: <code>{own}</code>
          </p>
        )}
      </section>
      {announced !== null && announced !== category && (
        <p className="notice">
          WhatsApp announced that its category becomes {announced.toLowerCase()}
          {from !== null && (
            <>
              {' '}
              on <Time at={from} />
            </>
          )}
          . From then on its messages are priced and limited as such.
        </p>
      )}
    </>
  );
}

function TemplateFacts({ template }: { template: Template }) {
  const { variables, message_send_ttl_seconds: ttl } = template;
  return (
    <>
      <Facts
        of={[
          ['Category', template.category.toLowerCase()],
          ['Language', template.language],
          ['Quality', <Quality key="quality" rating={template.quality} />],
          [
            'Waits',
            ttl === null ? null : ttl === -1 ? 'at most 30 days for its delivery' : `at most ${ttl} s for its delivery`,
          ],
          ['Made', <Time key="made" at={template.created_at} />],
          ['Changed', <Time key="changed" at={template.updated_at} />],
          ['Compared', template.synced_at === null ? null : <Time key="compared" at={template.synced_at} />],
        ]}
      />
      {variables.length > 0 && (
        <section aria-label="Variables">
          <h2>Variables</h2>
          <TableBox isBare label="Variables, table" columns={['Place', 'Name', 'Example']}>
            {variables.map(({ component, name, button_index: button, card_index: card, example }) => (
              <tr key={`${component} ${card ?? ''} ${button ?? ''} ${name}`}>
                <td>
                  {component}
                  {card !== null && ` card ${card + 1}`}
                  {button !== null && ` button ${button + 1}`}
                </td>
                <td>
                  <code>{`{{${name}}}`}</code>
                </td>
                <td>
                  <bdi>{example}</bdi>
                </td>
              </tr>
            ))}
          </TableBox>
        </section>
      )}
      <details>
        <summary>Components</summary>
        <pre tabIndex={0}>{JSON.stringify(template.components, null, 2)}</pre>
      </details>
    </>
  );
}
