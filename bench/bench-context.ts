import type { Finding } from './finding.js';
import { BenchPostgres } from '../test/support/rig/postgres.js';
import type { Scope } from '../test/support/rig/scope.js';

/** One file of `claims/`: what it measures, beside what. */
export interface Claim {
  /** As `npm run bench -- <name>` takes it. */
  name: string;
  /** It runs only where it is named, for it takes long or much of the disk, and is not among the results of all. */
  isSeparate?: true;
  measure(context: BenchContext): Promise<Finding[]>;
}

/** What is said of a run besides the names of its claims. */
export interface BenchOptions {
  /** Journals that `growth` compares, in millions of messages. */
  millions?: readonly number[];
  /** A server on which `growth` makes its databases. */
  databaseUrl?: string;
}

/** What a run gives to its claims. */
export class BenchContext {
  private server: Promise<BenchPostgres> | null = null;
  private readonly serverScope: Scope;
  private readonly shared = new Map<string, Promise<unknown>>();

  constructor(
    readonly scope: Scope,
    /** The form of three minutes. */
    readonly quick: boolean,
    readonly say: (line: string) => void,
    given?: BenchPostgres,
    private readonly options: BenchOptions = {},
  ) {
    // Opened before every claim's scope, and so closed after them: their databases are on this server.
    this.serverScope = scope.child();
    if (given !== undefined) this.server = Promise.resolve(given);
  }

  get millions(): readonly number[] | undefined {
    return this.options.millions;
  }

  get databaseUrl(): string | undefined {
    return this.options.databaseUrl;
  }

  /** The one PostgreSQL of the run; every claim makes databases of its own on it. */
  postgres(): Promise<BenchPostgres> {
    this.server ??= BenchPostgres.start(this.serverScope);
    return this.server;
  }

  /** A figure that several claims need and that is measured once. */
  once<T>(name: string, measure: () => Promise<T>): Promise<T> {
    const known = this.shared.get(name) as Promise<T> | undefined;
    if (known !== undefined) return known;
    const fresh = measure();
    this.shared.set(name, fresh);
    return fresh;
  }
}

/**
 * Runs contestants in turn, `rounds` times, each round beginning with another one: what else the machine does meanwhile
 * then hits all alike.
 */
export async function inTurn<K extends string, T>(
  rounds: number,
  contestants: Record<K, () => Promise<T>>,
): Promise<Record<K, T[]>> {
  const names = Object.keys(contestants) as K[];
  const results = Object.fromEntries(names.map((name) => [name, [] as T[]])) as Record<K, T[]>;
  for (let round = 0; round < rounds; round++) {
    for (let i = 0; i < names.length; i++) {
      const name = names[(round + i) % names.length] as K;
      results[name].push(await contestants[name]());
    }
  }
  return results;
}
