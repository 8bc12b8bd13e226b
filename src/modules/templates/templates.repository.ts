import { Injectable } from '@nestjs/common';
import { Database } from '../../infrastructure/database/database.js';
import { TEMPLATE_COLUMNS } from './template-row.js';
import type { AccountKey, Template, TemplateCategory, TemplateStatus } from './templates.types.js';

export interface TemplateFilter {
  status: TemplateStatus | null;
  category: TemplateCategory | null;
  language: string | null;
  /** Part of the name. */
  name: string | null;
}

/** Place of a template in the list. */
export interface TemplatePlace {
  name: string;
  language: string;
}

/** Reads the mirror: the table `template` without the deleted ones. */
@Injectable()
export class TemplatesRepository {
  constructor(private readonly database: Database) {}

  async find({ organizationId, wabaId }: AccountKey, name: string, language: string): Promise<Template | null> {
    const [row] = await this.database.query<Template>(
      `select ${TEMPLATE_COLUMNS} from template
       where organization_id = $1 and waba_id = $2 and name = $3 and language = $4 and deleted_at is null`,
      [organizationId, wabaId, name, language],
    );
    return row ?? null;
  }

  /** All languages of a name, in the order of their codes; empty where there is no such template. */
  versions({ organizationId, wabaId }: AccountKey, name: string): Promise<Template[]> {
    return this.database.query<Template>(
      `select ${TEMPLATE_COLUMNS} from template
       where organization_id = $1 and waba_id = $2 and name = $3 and deleted_at is null
       order by language`,
      [organizationId, wabaId, name],
    );
  }

  /** The account's templates by name and language, those behind `after` only, at most `limit`. */
  page(
    { organizationId, wabaId }: AccountKey,
    filter: TemplateFilter,
    after: TemplatePlace | null,
    limit: number,
  ): Promise<Template[]> {
    return this.database.query<Template>(
      `select ${TEMPLATE_COLUMNS} from template
       where organization_id = $1 and waba_id = $2 and deleted_at is null
         and ($3::text is null or status = $3)
         and ($4::text is null or category = $4)
         and ($5::text is null or language = $5)
         and ($6::text is null or position($6 in name) > 0)
         and ($7::text is null or (name, language) > ($7, $8))
       order by name, language limit $9`,
      [
        organizationId,
        wabaId,
        filter.status,
        filter.category,
        filter.language,
        filter.name,
        after?.name ?? null,
        after?.language ?? null,
        limit,
      ],
    );
  }
}
