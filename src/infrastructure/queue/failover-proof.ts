/** A server that streams from the primary, as the primary reports it. */
export interface SeenStandby {
  name: string | null;
  /** Null: the role has no right to see it. */
  state: 'sync' | 'quorum' | 'potential' | 'async' | null;
  address: string | null;
}

/** Facts that a worker read from the primary and wrote there, in the same statement. */
export interface PrimaryFacts {
  /** The number of the worker's statement. */
  n: number;
  identity: string;
  /** `synchronous_commit` in the worker's session. */
  commit: string;
  /** `synchronous_standby_names`. */
  names: string;
  standbys: readonly SeenStandby[];
}

/** SQL: the facts of the answering server, as jsonb. `$1` is their number. */
export const PRIMARY_FACTS = `jsonb_build_object('n', $1::bigint, 'identity', identity_of_database(),
    'commit', current_setting('synchronous_commit'), 'names', current_setting('synchronous_standby_names'),
    'standbys', coalesce((select jsonb_agg(jsonb_build_object(
        'name', seen.application_name, 'state', seen.sync_state, 'address', host(seen.client_addr)))
      from (select application_name, sync_state, client_addr from pg_stat_replication
        order by sync_state = 'async' nulls first limit 50) as seen), '[]'))`;

/**
 * `local` and `off` do not wait for a standby. With `remote_write` a standby that loses power too loses commits that it
 * had not flushed.
 */
const WAITS = new Set(['on', 'remote_apply']);

const WHOLE = /^(?:(?:(?:first|any)\s+)?(?<many>\d+)\s*\((?<list>[^()]*)\)|(?<plain>[^()]*))$/is;
const NAME = /^(?:"(?<quoted>[^",*]+)"|(?<word>[^\s",*]+))$/;

/**
 * The standbys of which a commit waits for every one; null: it waits for only some of the named ones, or that is
 * unknown.
 */
function awaitedBy(setting: string): string[] | null {
  const { many = '1', list, plain } = WHOLE.exec(setting.trim())?.groups ?? {};
  const names = (list ?? plain ?? '').split(',').map((each) => {
    const { quoted, word } = NAME.exec(each.trim())?.groups ?? {};
    return (quoted ?? word)?.toLowerCase();
  });
  const known = names.filter((name) => name !== undefined);
  const isAll = known.length === names.length && known.length === Number(many) && new Set(known).size === known.length;
  return isAll ? known : null;
}

const isSynchronous = ({ state }: SeenStandby): boolean => state === 'sync' || state === 'quorum';

/**
 * Why a promoted standby may lack a commit of this worker; null: it has every commit, unless the setting changes first.
 */
export function reasonAgainst({ commit, names, standbys }: PrimaryFacts): string | null {
  if (!WAITS.has(commit)) return `synchronous_commit is ${commit}`;
  if (names.trim() === '') return 'no standby is synchronous: synchronous_standby_names is empty';
  if (standbys.some(({ state }) => state === null)) {
    return 'the role of DATABASE_URL may not see which standby is synchronous: grant it pg_read_all_stats';
  }
  const awaited = awaitedBy(names);
  if (awaited === null) {
    return `synchronous_standby_names (${names}) lets a commit end before every standby that it names has it: name only those, without *`;
  }
  const synchronous = standbys.filter(isSynchronous).map(({ name }) => name?.toLowerCase());
  const isMet = synchronous.length === awaited.length && awaited.every((name) => synchronous.includes(name));
  return isMet ? null : `not every standby of synchronous_standby_names (${names}) is connected and synchronous`;
}

/** Why the answering server may not be the synchronous standby; null: it is. */
function reasonAgainstServer({ standbys }: PrimaryFacts, address: string | null): string | null {
  const others = standbys.filter((standby) => !isSynchronous(standby)).map((standby) => standby.address);
  if (others.length === 0) return null;
  const synchronous = standbys.filter(isSynchronous).map((standby) => standby.address);
  if (address !== null && synchronous.includes(address) && !others.includes(address)) return null;
  return `other servers streamed from the primary, too, and the new primary's address (${address ?? 'unknown'}) is not that of the synchronous standby alone`;
}

/** The same cluster and database, exactly one promotion later. */
export function isNextTimeline(confirmed: string, found: string): boolean {
  const [cluster, timeline, database] = confirmed.split('/');
  const [foundCluster, foundTimeline, foundDatabase] = found.split('/');
  const isSame = cluster === foundCluster && cluster !== '-' && database === foundDatabase;
  return isSame && Number.parseInt(foundTimeline ?? '', 16) === Number.parseInt(timeline ?? '', 16) + 1;
}

export interface Promotion {
  confirmed: string;
  found: string;
  /** The address of the answering server; null: a socket. */
  address: string | null;
  /** What the workers wrote in the last minute on the database `confirmed`, as far as this server has it. */
  last: readonly PrimaryFacts[];
  /**
   * `known`: the number up to which this worker knows that its facts were committed there; `here`: the number of the
   * latest that this server has; null: none.
   */
  known: number;
  here: number | null;
}

/** Why an operator must decide after this change of database; null: nothing was lost. */
export function reasonToAsk({ confirmed, found, address, last, known, here }: Promotion): string | null {
  if (!isNextTimeline(confirmed, found)) return 'it is not the next timeline of the same cluster';
  if (here === null || here < known) return 'it lacks commits that this worker saw succeed';
  const reasons = last.map((facts) => reasonAgainst(facts) ?? reasonAgainstServer(facts, address));
  return reasons.find((reason) => reason !== null) ?? null;
}
