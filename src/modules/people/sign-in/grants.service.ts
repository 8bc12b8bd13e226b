import { Injectable } from '@nestjs/common';
import { Config } from '../../../infrastructure/config/config.js';
import { SecretBox, type SecretPlace } from '../../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../../infrastructure/secrets/secret-rotation.js';
import { type DueGrant, GrantsRepository } from './grants.repository.js';
import type { IssuerGrant } from './issuers.service.js';

const COLUMN = { table: 'person_grant', column: 'grant_ciphertext' } as const;
/** Replaces the workspace in the place of a secret: a session belongs to none. */
const PEOPLE = 'people';

/** Stores, encrypted, the grants with which issuers can be queried again about sessions. */
@Injectable()
export class GrantsService {
  private readonly minutes: number;

  constructor(
    private readonly grants: GrantsRepository,
    private readonly box: SecretBox,
    config: Config,
    rotation: SecretRotation,
  ) {
    this.minutes = config.people.sessionCheckMinutes;
    rotation.add({ ...COLUMN, organization: `'${PEOPLE}'`, place: placeOf });
  }

  /**
   * Stores a session's grant, which is checked after `SESSION_CHECK_MINUTES`. In the ambient transaction of a new
   * session.
   */
  keep(sessionId: string, grant: IssuerGrant): Promise<void> {
    return this.grants.keep(sessionId, this.box.seal(JSON.stringify(grant), placeOf(sessionId)), this.minutes);
  }

  /** Like `GrantsRepository.claim`; `grant` is null where no key of this process decrypts it. */
  async claim(limit: number, minutes: number): Promise<(Omit<DueGrant, 'sealed'> & { grant: IssuerGrant | null })[]> {
    const due = await this.grants.claim(limit, minutes);
    return due.map(({ sealed, ...session }) => ({ ...session, grant: this.open(session.sessionId, sealed) }));
  }

  private open(sessionId: string, sealed: Buffer): IssuerGrant | null {
    try {
      return JSON.parse(this.box.open(sealed, placeOf(sessionId))) as IssuerGrant;
    } catch {
      return null;
    }
  }
}

function placeOf(rowId: string): SecretPlace {
  return { ...COLUMN, organizationId: PEOPLE, rowId };
}
