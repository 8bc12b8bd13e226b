import { Injectable } from '@nestjs/common';
import { ExpiringCache } from '../../common/expiring-cache.js';
import { isUuid, newId } from '../../common/ids.js';
import { OtpProjectsRepository } from './otp-projects.repository.js';
import type { OtpMode, OtpProject } from './otp.types.js';

export interface NewOtpProject {
  organizationId: string;
  name: string;
  mode: OtpMode;
  templateLanguage?: string;
  allowedCountries?: readonly string[] | null;
}

/** Applications that send codes; made with the command line. */
@Injectable()
export class OtpProjectsService {
  private readonly cache = new ExpiringCache<string, OtpProject | null>({ ttlMs: 2_000, maxEntries: 10_000 });

  constructor(private readonly projects: OtpProjectsRepository) {}

  async create(input: NewOtpProject): Promise<OtpProject> {
    const id = newId();
    await this.projects.insert({
      id,
      organizationId: input.organizationId,
      name: input.name,
      mode: input.mode,
      templateLanguage: input.templateLanguage ?? 'en_US',
      allowedCountries: input.allowedCountries ? [...input.allowedCountries] : null,
    });
    return this.getById(id);
  }

  /** Oldest first. */
  list(organizationId: string): Promise<OtpProject[]> {
    return this.projects.list(organizationId);
  }

  /** At most two seconds old; null where the workspace has no such project. */
  find(organizationId: string, id: string): Promise<OtpProject | null> {
    return this.cache.get(`${organizationId}/${id}`, () => this.projects.find(organizationId, id));
  }

  /** For the operator. @throws Error where there is no such project. */
  async getById(id: string): Promise<OtpProject> {
    const project = isUuid(id) ? await this.projects.findAnywhere(id) : null;
    if (project === null) throw new Error(`there is no OTP project ${id}`);
    return project;
  }
}
