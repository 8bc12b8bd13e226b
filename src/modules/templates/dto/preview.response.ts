import { ApiProperty } from '@nestjs/swagger';
import type { Preview } from '../form/preview.js';

export class PreviewHeader {
  /** TEXT, IMAGE, VIDEO, DOCUMENT, LOCATION ... */
  @ApiProperty({ example: 'TEXT' })
  format!: string;

  /** Null where the header is no text. */
  @ApiProperty({ type: 'string', nullable: true, example: 'Order 4711' })
  text!: string | null;
}

export class PreviewButtonResponse {
  @ApiProperty({ example: 'URL' })
  type!: string;

  @ApiProperty({ example: 'Track' })
  text!: string;

  @ApiProperty({ required: false, example: 'https://example.com/t/4711' })
  url?: string;

  @ApiProperty({ required: false, example: '+15550100001' })
  phone_number?: string;

  /** What the button copies. */
  @ApiProperty({ required: false, example: '123456' })
  code?: string;
}

/** A template as its reader will see it. */
export class PreviewData {
  @ApiProperty({ example: 'order_update' })
  name!: string;

  @ApiProperty({ example: 'en_US' })
  language!: string;

  @ApiProperty({ type: PreviewHeader, nullable: true })
  header!: PreviewHeader | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'Hello Ana, your order 4711 is on its way.' })
  body!: string | null;

  @ApiProperty({ type: 'string', nullable: true, example: 'Lucky Shrub' })
  footer!: string | null;

  @ApiProperty({ type: [PreviewButtonResponse] })
  buttons!: PreviewButtonResponse[];

  /**
   * Variables for which no parameter was given, such as `body.{{2}}`; they stand in the texts as they are. A preview takes
   * no values for buttons, cards and offers: what a message must give for them is listed too, such as `buttons[0].{{1}}`.
   */
  @ApiProperty({ type: [String], example: [] })
  missing!: string[];

  /** Parameters that no variable takes. */
  @ApiProperty({ type: [String], example: [] })
  unused!: string[];

  static of({ name, language, header, body, footer, buttons, missing, unused }: Preview & NamedVersion): PreviewData {
    return { name, language, header, body, footer, buttons, missing, unused };
  }
}

interface NamedVersion {
  name: string;
  language: string;
}

export class PreviewResponse {
  @ApiProperty({ type: PreviewData })
  data!: PreviewData;
}
