import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import type { OtpProject } from './otp.types.js';

const COLUMNS = `id, organization_id as "organizationId", name, mode, template_language as "templateLanguage",
  allowed_countries as "allowedCountries", created_at as "createdAt"`;

/** Projects; the count of failures in a row is kept with the guesses. */
@Injectable()
export class OtpProjectsRepository {
  constructor(private readonly database: Database) {}

  async insert(project: Omit<OtpProject, 'createdAt'>): Promise<void> {
    await this.database.execute(
      `insert into otp_project (id, organization_id, name, mode, template_language, allowed_countries)
       values ($1, $2, $3, $4, $5, $6)`,
      [
        project.id,
        project.organizationId,
        project.name,
        project.mode,
        project.templateLanguage,
        project.allowedCountries,
      ],
    );
  }

  /** All of them: an operator makes each by hand. */
  list(organizationId: string): Promise<OtpProject[]> {
    return this.database.query<OtpProject>(
      `select ${COLUMNS} from otp_project where organization_id = $1 order by otp_project.created_at, id`,
      [organizationId],
    );
  }

  async find(organizationId: string, id: string): Promise<OtpProject | null> {
    const rows = await this.database.query<OtpProject>(
      `select ${COLUMNS} from otp_project where organization_id = $1 and id = $2`,
      [organizationId, id],
    );
    return rows[0] ?? null;
  }

  /** Whatever its workspace: the operator names a project by its id alone. */
  async findAnywhere(id: string): Promise<OtpProject | null> {
    const rows = await this.database.query<OtpProject>(`select ${COLUMNS} from otp_project where id = $1`, [id]);
    return rows[0] ?? null;
  }
}
