import { Column, Entity, PrimaryColumn } from 'typeorm';
import type { KeywordsByLanguage } from '../opt-out-keywords.js';

/** The words by which customers of a workspace opt out. */
@Entity('opt_out_keywords')
export class OptOutKeywordsEntity {
  @PrimaryColumn('uuid')
  organizationId!: string;

  @Column('jsonb')
  keywords!: KeywordsByLanguage;
}
