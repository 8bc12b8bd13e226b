import { Column, Entity, PrimaryColumn } from 'typeorm';
import type {
  ParameterFormat,
  TemplateCategory,
  TemplateComponent,
  TemplateForm,
  TemplateStatus,
} from '../templates.types.js';

/** One language of a template, as the mirror has it. A deleted one stays as a mark: the platform lists it for weeks. */
@Entity('template')
export class TemplateEntity implements TemplateForm {
  @PrimaryColumn('uuid')
  id!: string;

  @Column('uuid')
  organizationId!: string;

  @Column('text')
  wabaId!: string;

  @Column('text')
  platformId!: string;

  @Column('text')
  name!: string;

  @Column('text')
  language!: string;

  @Column('text')
  status!: TemplateStatus;

  /** The platform's own word, such as `APPROVED` or `LOCKED`. */
  @Column('text')
  platformStatus!: string;

  @Column('text')
  category!: TemplateCategory;

  @Column('text')
  parameterFormat!: ParameterFormat;

  /** GREEN, YELLOW, RED or UNKNOWN; null where the platform said nothing. */
  @Column('text', { nullable: true })
  quality!: string | null;

  /** The platform's word, such as `INVALID_FORMAT`. */
  @Column('text', { nullable: true })
  rejectedReason!: string | null;

  /** Seconds that a message may wait for its delivery; null: the platform's default. */
  @Column('integer', { nullable: true })
  messageSendTtlSeconds!: number | null;

  @Column('jsonb')
  components!: readonly TemplateComponent[];

  /** How new the platform's last word on the field is, by its own clock. */
  @Column('timestamptz', { nullable: true })
  statusAt!: Date | null;

  @Column('timestamptz', { nullable: true })
  qualityAt!: Date | null;

  @Column('timestamptz', { nullable: true })
  categoryAt!: Date | null;

  /** What the platform announced that the category is going to be, and when. */
  @Column('text', { nullable: true })
  announcedCategory!: TemplateCategory | null;

  @Column('timestamptz', { nullable: true })
  announcedFor!: Date | null;

  @Column('timestamptz', { nullable: true })
  deletedAt!: Date | null;

  /** When a write of ours or a notification last changed the row; `-infinity`: never. */
  @Column('timestamptz', { select: false })
  touchedAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, insert: false, update: false })
  createdAt!: Date;

  @Column({ type: 'timestamptz', precision: 3, insert: false })
  updatedAt!: Date;
}

/** One language of a template, as the platform describes it. */
export type PlatformTemplate = Pick<
  TemplateEntity,
  | keyof TemplateForm
  | 'platformId'
  | 'name'
  | 'language'
  | 'status'
  | 'platformStatus'
  | 'quality'
  | 'rejectedReason'
  | 'messageSendTtlSeconds'
>;

/** What a notification changes of a row; what is left out stays. `rejectedReason` goes with `status`. */
export interface RowChange extends Partial<
  Pick<
    TemplateEntity,
    | 'status'
    | 'platformStatus'
    | 'rejectedReason'
    | 'statusAt'
    | 'quality'
    | 'qualityAt'
    | 'category'
    | 'categoryAt'
    | 'announcedCategory'
    | 'announcedFor'
  >
> {
  deleted?: boolean;
}
