import { Injectable } from '@nestjs/common';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { isUuid, newId } from '../../common/ids.js';
import { Audit } from '../audit/audit.service.js';
import { Database } from '../../infrastructure/database/database.js';
import { OtpPackagesService } from '../billing/otp-packages.service.js';
import { OtpProjectEntity } from './entities/otp.entity.js';
import { otpErrors } from './otp.errors.js';
import type { OtpProject } from './otp.types.js';

type NewOtpProject = Pick<OtpProject, 'organizationId' | 'name' | 'mode'> &
  Partial<Pick<OtpProject, 'templateLanguage' | 'allowedCountries'>>;

/** Applications that send codes; created with the command line or the admin API. */
@Injectable()
export class OtpProjectsService {
  private readonly cache = new ExpiringCache<string, OtpProject | null>({ ttlMs: 2_000, maxEntries: 10_000 });

  constructor(
    private readonly database: Database,
    private readonly audit: Audit,
    private readonly packages: OtpPackagesService,
  ) {}

  /** Without a list every country is allowed. */
  async create({ templateLanguage = 'en_US', allowedCountries = null, ...given }: NewOtpProject): Promise<OtpProject> {
    const id = newId();
    const { organizationId, name, mode } = given;
    return this.database.transaction(async () => {
      await this.table.insert({ id, organizationId, name, mode, templateLanguage, allowedCountries });
      await this.audit.record({ action: 'otp_project.created', organizationId, target: id, details: { name, mode } });
      return this.getById(id);
    });
  }

  /** Oldest first. All of them: operators create them by hand. */
  list(organizationId: string): Promise<OtpProject[]> {
    return this.table.find({ where: { organizationId }, order: { createdAt: 'ASC', id: 'ASC' } });
  }

  /** At most two seconds old; null where the workspace has no such project. */
  find(organizationId: string, id: string): Promise<OtpProject | null> {
    return this.cache.get(`${organizationId}/${id}`, () => this.table.findOneBy({ organizationId, id }));
  }

  /** @throws OTP_PROJECT_NOT_FOUND (404) where the workspace has no such project. */
  async getOf(organizationId: string, id: string): Promise<OtpProject> {
    const project = isUuid(id) ? await this.table.findOneBy({ organizationId, id }) : null;
    if (project === null) throw otpErrors.OTP_PROJECT_NOT_FOUND();
    return project;
  }

  /**
   * Sets how many codes a project may send to a country in each calendar month (UTC); 0 ends it.
   *
   * @throws OTP_PACKAGE_NOT_POSSIBLE (409) for a sandbox, and for a country to which the project sends no codes.
   */
  async grant(project: OtpProject, country: string, monthlyLimit: number): Promise<void> {
    const { id, organizationId, allowedCountries, mode } = project;
    if (mode === 'sandbox') {
      const reason = `the project ${id} is a sandbox: it sends nothing and needs no packages; name a live project`;
      throw otpErrors.OTP_PACKAGE_NOT_POSSIBLE({ reason });
    }
    if (monthlyLimit > 0 && allowedCountries?.includes(country) === false) {
      const reason = `the project sends no codes to ${country}: it was made for ${allowedCountries.join(',')}`;
      throw otpErrors.OTP_PACKAGE_NOT_POSSIBLE({ reason });
    }
    await this.packages.grant(organizationId, id, country, monthlyLimit);
  }

  /** For the operator, in any workspace. @throws Error for an unknown id. */
  async getById(id: string): Promise<OtpProject> {
    const project = isUuid(id) ? await this.table.findOneBy({ id }) : null;
    if (project === null) throw new Error(`there is no OTP project ${id}`);
    return project;
  }

  private get table() {
    return this.database.repository(OtpProjectEntity);
  }
}
