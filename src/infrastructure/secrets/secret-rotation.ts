import { Injectable } from '@nestjs/common';
import { AuditTrail } from '../operations/audit-trail.js';
import { Database } from '../database/database.js';
import { SecretBox, type SecretPlace } from './secret-box.js';

/** A column of long-lived sealed secrets. Its names come from the code, never from a caller. */
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
  /** Left unchanged, because no key of ENCRYPTION_KEYS decrypts them. */
  unreadable: number;
}

/** Which keys of this process decrypt a sample: the newest secrets of each key version in each column. */
export interface KeyProof {
  /** Key versions with at least one secret that can be decrypted. */
  opened: number[];
  /** Key versions with none. */
  closed: number[];
}

interface SealedRow {
  id: string;
  organizationId: string;
  sealed: Buffer;
}

const BATCH = 500;
/** More than one, because a single secret may be damaged. */
const SAMPLE = 3;

/**
 * Encrypts stored secrets again under the current key, so that an older key can be removed. Safe while processes run: a
 * row is changed only if it still has the value that was read, and both keys decrypt it meanwhile. A repeated run
 * continues with the rest.
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

  /** The key version of new secrets. */
  get version(): number {
    return this.box.version;
  }

  /** Decrypts some of the stored secrets, so that a wrong key shows at the start and not with each message. */
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

  /** The rows with re-encrypted secrets; without those that no key decrypts. */
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
