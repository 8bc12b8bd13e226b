import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { Select } from './controls.tsx';
import { Empty, Problem, Skeleton } from './ui.tsx';

interface SimulatedTemplate {
  id: string;
  waba_id: string;
  name: string;
  language: string;
  category: string;
  status: string;
}

export type Control = <T>(path: string, body?: object) => Promise<T>;

const LOOK_MS = 2_000;
/** What Meta's reviewer may decide, by the words of the platform. */
const DECISIONS: readonly (readonly [string, string, object])[] = [
  ['APPROVED', 'Approve', {}],
  ['REJECTED', 'Reject: invalid format', { reason: 'INVALID_FORMAT' }],
  ['REJECTED', 'Reject: scam', { reason: 'SCAM' }],
  ['PAUSED', 'Pause', {}],
  ['DISABLED', 'Disable', {}],
];

/** Plays Meta's reviewer: decides on the templates of a simulated account. */
export function Reviewer({ control, account }: { control: Control; account: string | null }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['simulator', 'templates'],
    queryFn: async () => (await control<{ data: SimulatedTemplate[] }>('templates')).data,
    select: (all) => all.filter(({ waba_id: of }) => of === account),
    enabled: account !== null,
    refetchInterval: LOOK_MS,
  });
  const [problem, setProblem] = useState<unknown>(null);
  const decide = async (id: string, decision: number): Promise<void> => {
    const [event, , more] = DECISIONS[decision] ?? [];
    setProblem(null);
    try {
      await control(`templates/${encodeURIComponent(id)}/review`, { event, ...more });
    } catch (failure) {
      setProblem(failure);
    }
    await refetch();
  };
  return (
    <div className="reviewer" role="region" aria-label="Reviewer of templates" tabIndex={0}>
      <p className="hint">You are Meta’s reviewer: what you decide is reported to Herald.</p>
      {error !== null && <Problem error={error} />}
      {problem !== null && <Problem error={problem} />}
      {data === undefined && error === null && <Skeleton lines={4} />}
      {data?.length === 0 && <Empty title="There is no template" />}
      {data?.toReversed().map(({ id, name, language, category, status }) => (
        <div key={id} className="review">
          <bdi className="file-name">{name}</bdi>
          <small>
            {language} · {category.toLowerCase()} · <b>{status.toLowerCase().replaceAll('_', ' ')}</b>
          </small>
          <Select
            aria-label={`Decide on ${name}, ${language}`}
            value=""
            options={[['', 'Decide …'], ...DECISIONS.map(([, label], at) => [String(at), label])]}
            onValue={(value) => void decide(id, Number(value))}
          />
        </div>
      ))}
    </div>
  );
}
