import { hash, randomBytes } from 'node:crypto';
import { Injectable, type OnModuleInit } from '@nestjs/common';
import { databaseClock } from '../../common/clock.js';
import { newId } from '../../common/ids.js';
import { Config } from '../../infrastructure/config/config.js';
import { Database } from '../../infrastructure/database/database.js';
import { PublicUrl } from '../../infrastructure/http/public-url.js';
import { inBatches, Sweeps } from '../../infrastructure/queue/sweeps.js';
import type { SecretPlace } from '../../infrastructure/secrets/secret-box.js';
import { SecretRotation } from '../../infrastructure/secrets/secret-rotation.js';
import { signupDialog } from '../../infrastructure/whatsapp/signup-dialog.js';
import { Audit } from '../audit/audit.service.js';
import { setupErrors } from './setup.errors.js';
import { HAS_SPARE_TOKEN, type LinkFilter, SetupRepository } from './setup.repository.js';
import type { SetupLink, SignupKind } from './setup.types.js';

export type { LinkFilter };

/** A new link: its address is known only now. */
export interface IssuedLink extends SetupLink {
  url: string;
}

export interface NewLink {
  organizationId: string;
  /** Default: by WhatsApp's dialog with embedded signup, otherwise by hand. */
  signup?: SignupKind;
  returnUrl?: string | null;
  expiresInSeconds: number;
  locale: string;
}

const TOKEN_BYTES = 32;
const CLEAR_EVERY_MS = 60_000;
const BATCH = 500;

/** The place of a link's account token, for `SecretBox`. */
export function accessTokenPlace({ id, organizationId }: { id: string; organizationId: string }): SecretPlace {
  return { table: 'setup_link', column: 'access_token', organizationId, rowId: id };
}

/** The stored form of a token: 256 random bits need neither a salt nor a slow hash. */
export function digestOf(token: string): Buffer {
  return hash('sha256', token, 'buffer');
}

/** Links by which a business connects its own number, for operators. */
@Injectable()
export class SetupLinksService implements OnModuleInit {
  constructor(
    private readonly links: SetupRepository,
    private readonly database: Database,
    private readonly publicUrl: PublicUrl,
    private readonly sweeps: Sweeps,
    private readonly config: Config,
    private readonly audit: Audit,
    rotation: SecretRotation,
  ) {
    rotation.add({
      table: 'setup_link',
      column: 'access_token_ciphertext',
      place: (id, organizationId) => accessTokenPlace({ id, organizationId }),
    });
  }

  onModuleInit(): void {
    this.sweeps.add({
      name: 'setup links',
      everyMs: CLEAR_EVERY_MS,
      hasWork: `exists (select from setup_link where ${HAS_SPARE_TOKEN})`,
      run: (signal) => inBatches(signal, BATCH, (limit) => this.links.clearTokens(limit)),
    });
  }

  /**
   * Creates a link. Its address is in the answer and nowhere else.
   *
   * @throws SETUP_SIGNUP_OFF, SETUP_RETURN_URL_REFUSED (422).
   */
  async create(given: NewLink): Promise<IssuedLink> {
    const dialog = signupDialog(this.config);
    const { organizationId, returnUrl = null, locale, expiresInSeconds } = given;
    const signup = given.signup ?? (dialog === null ? 'manual' : 'cloud');
    if (signup !== 'manual' && dialog === null) throw setupErrors.SETUP_SIGNUP_OFF({ signup });
    if (returnUrl !== null && !this.mayReturn(returnUrl)) {
      throw setupErrors.SETUP_RETURN_URL_REFUSED({ origin: new URL(returnUrl).origin });
    }
    const id = newId();
    const token = `hrld_setup_${randomBytes(TOKEN_BYTES).toString('base64url')}`;
    const expiresAt = new Date(databaseClock.now() + expiresInSeconds * 1_000);
    return this.database.transaction(async () => {
      await this.links.insert({
        id,
        organizationId,
        tokenHash: digestOf(token),
        signup,
        locale,
        returnUrl,
        expiresAt,
        openedAt: null,
        completedAt: null,
        revokedAt: null,
        steps: {},
        phoneNumberId: null,
        wabaId: null,
        connectionId: null,
      });
      const details = { signup, expires_at: expiresAt, return_url: returnUrl };
      await this.audit.record({ action: 'setup_link.created', organizationId, target: id, details });
      return { ...(await this.getById(organizationId, id)), url: `${this.publicUrl.value}/setup/${token}` };
    });
  }

  page(organizationId: string, filter: LinkFilter): Promise<SetupLink[]> {
    return this.links.page(organizationId, filter);
  }

  /** @throws SETUP_LINK_NOT_FOUND (404). */
  async getById(organizationId: string, id: string): Promise<SetupLink> {
    const link = await this.links.findById(organizationId, id);
    if (link === null) throw setupErrors.SETUP_LINK_NOT_FOUND();
    return link;
  }

  /**
   * Revokes an unused link; a running step is finished. Revoking it again changes nothing.
   *
   * @throws SETUP_LINK_NOT_FOUND (404), SETUP_LINK_USED (409).
   */
  revoke(organizationId: string, id: string): Promise<SetupLink> {
    return this.database.transaction(async () => {
      const link = await this.links.lock(organizationId, id);
      if (link === null) throw setupErrors.SETUP_LINK_NOT_FOUND();
      if (link.completedAt !== null) throw setupErrors.SETUP_LINK_USED();
      if (link.revokedAt === null) {
        await this.links.revoke(id);
        await this.audit.record({ action: 'setup_link.revoked', organizationId, target: id });
      }
      return this.getById(organizationId, id);
    });
  }

  /**
   * Where the business continues; null where the link has no such address, or the operator no longer allows its origin.
   */
  returnTo({ id, returnUrl }: Pick<SetupLink, 'id' | 'returnUrl'>, status: 'completed' | 'open'): string | null {
    if (returnUrl === null || !this.mayReturn(returnUrl)) return null;
    const url = new URL(returnUrl);
    url.searchParams.set('setup', id);
    url.searchParams.set('status', status);
    return url.href;
  }

  private mayReturn(returnUrl: string): boolean {
    return this.config.whatsapp.setupReturnOrigins.includes(new URL(returnUrl).origin);
  }
}
