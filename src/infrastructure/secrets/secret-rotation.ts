import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../operations/audit-trail.js';
import { Database } from '../database/database.js';
import { SecretBox, type SecretPlace } from './secret-box.js';

/** A column of sealed secrets that live long. Names are our own, never a caller's. */
export interface SealedColumn {
  table: string;
  column: string;
  /** SQL text of the row's workspace. Default: `organization_id`. */
  organization?: string;
  /** Default: table, column, workspace and row. */
  place?: (rowId: string, organizationId: string) => SecretPlace;
}

export interface RotatedColumn {
  table: string;
  /** Sealed again under the current key. */
  resealed: number;
  /** Left alone, because no key of ENCRYPTION_KEYS opens them. */
  unreadable: number;
}

/** What the keys of this process open of a sample: the newest secrets of each version in each column. */
export interface KeyProof {
  /** Key versions of stored secrets of which at least one opens. */
  opened: number[];
  /** Those of which none does. */
  closed: number[];
}

interface SealedRow {
  id: string;
  organizationId: string;
  sealed: Buffer;
}

const BATCH = 500;
/** One secret alone may be damaged. */
const SAMPLE = 3;

/**
 * Seals stored secrets again under the current key, so that an older key can be taken away. Safe beside running
 * processes: a row is changed only where it still holds what was read, and both keys open it all the while. Run it again
 * and it does what is left.
 */
@Injectable()
export class SecretRotation {
  private readonly columns: SealedColumn[] = [];

  constructor(
    private readonly database: Database,
    private readonly box: SecretBox,
    private readonly audit: AuditTrail,
  ) {}

  /** Adds a column; call it while the application starts. */
  add(column: SealedColumn): void {
    this.columns.push(column);
  }

  /** The version under which secrets are sealed. */
  get version(): number {
    return this.box.version;
  }

  /** Opens some of the stored secrets, so that a wrong key is found at start and not by each message. */
  async proveKeys(): Promise<KeyProof> {
    const opens = new Map<number, boolean>();
    for (const column of this.columns) {
      const rows = await this.database.query<SealedRow>(sampleOf(column), [SAMPLE]);
      const readable = new Set(this.reseal(column, rows).map(({ id }) => id));
      for (const { id, sealed } of rows) {
        const version = sealed.readUInt32BE(0);
        opens.set(version, (opens.get(version) ?? false) || readable.has(id));
      }
    }
    const versions = [...opens.keys()].sort((a, b) => a - b);
    return {
      opened: versions.filter((version) => opens.get(version)),
      closed: versions.filter((version) => !opens.get(version)),
    };
  }

  async rotate(): Promise<RotatedColumn[]> {
    const details = { version: this.version };
    await this.database.transaction(() =>
      this.audit.record({ action: 'secrets.rotation_started', organizationId: null, details }),
    );
    const rotated: RotatedColumn[] = [];
    for (const column of this.columns) rotated.push(await this.rotateColumn(column));
    return rotated;
  }

  private async rotateColumn(column: SealedColumn): Promise<RotatedColumn> {
    const result: RotatedColumn = { table: column.table, resealed: 0, unreadable: 0 };
    const version = Buffer.alloc(4);
    version.writeUInt32BE(this.version);
    for (let after = ''; ;) {
      const rows = await this.database.query<SealedRow>(selectOf(column), [version, after, BATCH]);
      const last = rows.at(-1);
      if (last === undefined) return result;
      after = last.id;
      const fresh = this.reseal(column, rows);
      result.unreadable += rows.length - fresh.length;
      if (fresh.length === 0) continue;
      const given = [fresh.map(({ id }) => id), fresh.map(({ sealed }) => sealed), fresh.map((row) => row.fresh)];
      result.resealed += await this.database.execute(updateOf(column), given);
    }
  }

  /** The rows with their secret sealed again; without those that no key opens. */
  private reseal(column: SealedColumn, rows: readonly SealedRow[]): (SealedRow & { fresh: Buffer })[] {
    return rows.flatMap((row) => {
      const { id: rowId, organizationId } = row;
      const place = column.place?.(rowId, organizationId) ?? { ...column, organizationId, rowId };
      try {
        return { ...row, fresh: this.box.seal(this.box.open(row.sealed, place), place) };
      } catch {
        return [];
      }
    });
  }
}

function selectOf({ table, column, organization = 'organization_id' }: SealedColumn): string {
  return `select id::text as id, (${organization})::text as "organizationId", ${column} as sealed from ${table}
    where substring(${column} from 1 for 4) <> $1 and id::text collate "C" > $2
    order by id::text collate "C" limit $3`;
}

function sampleOf({ table, column, organization = 'organization_id' }: SealedColumn): string {
  return `select id, "organizationId", sealed from (
      select id::text as id, (${organization})::text as "organizationId", ${column} as sealed,
        row_number() over (partition by substring(${column} from 1 for 4) order by id desc) as n
      from ${table} where octet_length(${column}) > 4) as stored
    where n <= $1`;
}

function updateOf({ table, column }: SealedColumn): string {
  return `update ${table} set ${column} = given.bytes_now
    from unnest($1::text[], $2::bytea[], $3::bytea[]) as given (given_id, bytes_before, bytes_now)
    where id::text = given.given_id and ${column} = given.bytes_before`;
}
