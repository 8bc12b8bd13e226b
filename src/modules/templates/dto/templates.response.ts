import { ApiProperty } from '@nestjs/swagger';
import { EXAMPLE_CONNECTION_ID } from '../../../common/example-ids.js';
import {
  PARAMETER_FORMATS,
  TEMPLATE_CATEGORIES,
  TEMPLATE_STATUSES,
  type ParameterFormat,
  type TemplateCategory,
  type TemplateComponent,
  type TemplateStatus,
} from '../templates.types.js';

const VARIABLE_PLACES = ['header', 'body', 'button', 'carousel', 'limited_time_offer'] as const;

/** A place in the template that each message fills. */
export class TemplateVariableResponse {
  @ApiProperty({ enum: VARIABLE_PLACES, example: 'body' })
  component!: (typeof VARIABLE_PLACES)[number];

  /** `1`, `2` ..., or the name of a named variable. */
  @ApiProperty({ example: '1' })
  name!: string;

  /** Place of the button, from 0; null where it is in no button. */
  @ApiProperty({ type: 'integer', example: null })
  button_index!: number | null;

  /** Place of the carousel's card, from 0; null where it is in no card. */
  @ApiProperty({ type: 'integer', example: null })
  card_index!: number | null;

  /** The example that was given for the review. */
  @ApiProperty({ example: 'Ana' })
  example!: string | null;
}

/** One language of a message template. */
class HeaderMediaResponse {
  @ApiProperty({ enum: ['image', 'video', 'document'], example: 'image' })
  type!: 'image' | 'video' | 'document';
}

export class TemplateResponse {
  @ApiProperty({ format: 'uuid', example: '01936f70-11aa-7b2c-9c3d-4e5f60718293' })
  id!: string;

  /** The connection that was asked; all numbers of one account share their templates. */
  @ApiProperty({ format: 'uuid', example: EXAMPLE_CONNECTION_ID })
  connection_id!: string;

  @ApiProperty({ example: 'order_update' })
  name!: string;

  @ApiProperty({ example: 'en_US' })
  language!: string;

  /** The platform may change it, and reports that. */
  @ApiProperty({ enum: TEMPLATE_CATEGORIES, example: 'UTILITY' })
  category!: TemplateCategory;

  /** The category that the platform announced for this template; null where it announced none. */
  @ApiProperty({ type: 'string', enum: [...TEMPLATE_CATEGORIES, null], nullable: true, example: null })
  announced_category!: TemplateCategory | null;

  /** When the announced category is going to be the template's; null where the platform did not say it. */
  @ApiProperty({ format: 'date-time', example: null })
  announced_for!: string | null;

  /** Only `approved` templates can be sent. A state that has no word here is `disabled`; see `platform_status`. */
  @ApiProperty({ enum: TEMPLATE_STATUSES, example: 'approved' })
  status!: TemplateStatus;

  /** The platform's own word. */
  @ApiProperty({ example: 'APPROVED' })
  platform_status!: string;

  /** The platform's word, such as `INVALID_FORMAT`; null where nothing was rejected. */
  @ApiProperty({ example: null })
  rejected_reason!: string | null;

  /** GREEN, YELLOW, RED or UNKNOWN; null where the platform has not said it. */
  @ApiProperty({ example: 'GREEN' })
  quality!: string | null;

  /** How variables are named: `{{1}}` or `{{first_name}}`. */
  @ApiProperty({ enum: PARAMETER_FORMATS, example: 'POSITIONAL' })
  parameter_format!: ParameterFormat;

  /** Seconds that a message may wait for its delivery; null: the platform's default. */
  @ApiProperty({ type: 'integer', example: null })
  message_send_ttl_seconds!: number | null;

  /** The parts of the template, in the platform's own format. */
  @ApiProperty({
    type: 'array',
    items: { type: 'object', required: ['type'], properties: { type: { type: 'string' } }, additionalProperties: true },
    example: [
      {
        type: 'BODY',
        text: 'Hello {{1}}, your order {{2}} is on its way.',
        example: { body_text: [['Ana', '4711']] },
      },
    ],
  })
  components!: readonly TemplateComponent[];

  /** What kind of file a message puts into the header, as `media_object_id`; null: none. */
  @ApiProperty({ type: HeaderMediaResponse, nullable: true, example: null })
  header_media!: HeaderMediaResponse | null;

  /** What a message must fill, in the order of the parts. */
  @ApiProperty()
  variables!: TemplateVariableResponse[];

  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:00:00.000Z' })
  created_at!: string;

  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:05:00.000Z' })
  updated_at!: string;

  /** When the templates were last compared with the platform's list; null: not yet. Changes in between show at once. */
  @ApiProperty({ format: 'date-time', example: '2026-11-21T08:05:30.000Z' })
  synced_at!: string | null;
}

export class SingleTemplateResponse {
  data!: TemplateResponse;
}

export class TemplatePagination {
  /** Pass it as `after` for the next page; null where no more follow. */
  @ApiProperty({ example: null })
  next_after!: string | null;
}

export class TemplateListResponse {
  data!: TemplateResponse[];

  pagination!: TemplatePagination;
}

/** A template with its languages. */
export class TemplateVersionsData {
  @ApiProperty({ example: 'order_update' })
  name!: string;

  /** In the order of their languages. */
  @ApiProperty()
  versions!: TemplateResponse[];
}

export class TemplateVersionsResponse {
  data!: TemplateVersionsData;
}

export class DeletedTemplate {
  @ApiProperty({ example: 'order_update' })
  name!: string;

  @ApiProperty({ example: ['de', 'en_US'] })
  deleted_languages!: string[];
}

export class DeletedTemplateResponse {
  data!: DeletedTemplate;
}

export class PreviewHeader {
  /** TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION ... */
  @ApiProperty({ example: 'TEXT' })
  format!: string;

  /** Null where the header is no text. */
  @ApiProperty({ example: 'Order 4711' })
  text!: string | null;
}

export class PreviewButtonResponse {
  @ApiProperty({ example: 'URL' })
  type!: string;

  @ApiProperty({ example: 'Track' })
  text!: string;

  @ApiProperty({ example: 'https://example.com/t/4711' })
  url?: string;

  @ApiProperty({ example: '+15550100001' })
  phone_number?: string;

  /** What the button copies. */
  @ApiProperty({ example: '123456' })
  code?: string;
}

/** A template as its reader will see it. */
export class PreviewData {
  @ApiProperty({ example: 'order_update' })
  name!: string;

  @ApiProperty({ example: 'en_US' })
  language!: string;

  @ApiProperty()
  header!: PreviewHeader | null;

  @ApiProperty({ example: 'Hello Ana, your order 4711 is on its way.' })
  body!: string | null;

  @ApiProperty({ example: 'Lucky Shrub' })
  footer!: string | null;

  @ApiProperty()
  buttons!: PreviewButtonResponse[];

  /**
   * Variables for which no value was given, such as `body.{{2}}` or `buttons[0].{{1}}`; they are in the texts as they are.
   * A link whose variable has no value shows its example.
   */
  @ApiProperty({ example: [] })
  missing!: string[];

  /** Values that no variable takes, by their place from 0, such as `body[2]` or `buttons[1]`; by name where they have names. */
  @ApiProperty({ example: [] })
  unused!: string[];
}

export class PreviewResponse {
  data!: PreviewData;
}
