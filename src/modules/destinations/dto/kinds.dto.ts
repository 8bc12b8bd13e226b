import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsString, Matches, MaxLength, MinLength, ValidateBy } from 'class-validator';
import { IfGiven } from '../../../infrastructure/http/validation.pipe.js';
import type { DestinationKind } from '../destinations.types.js';
import { faultOfUrl } from '../sinks/broker-url.js';

const MAX_SECRET = 4_096;

const isUrlOf = (kind: DestinationKind): PropertyDecorator =>
  ValidateBy({
    name: 'format',
    validator: {
      validate: (text) => typeof text === 'string' && faultOfUrl(text, kind) === null,
      defaultMessage: (given) => faultOfUrl(typeof given?.value === 'string' ? given.value : '', kind) ?? '',
    },
  });

/** Letters, digits and what separates them, with `{type}` and `{conversation}`; no wildcard and no blank. */
const TEMPLATE = '^(?:[A-Za-z0-9_.:/-]|\\{type\\}|\\{conversation\\})+$';
const isTemplate = (name: string): PropertyDecorator =>
  Matches(new RegExp(TEMPLATE), {
    message: `${name} must be letters, digits and . _ - : / with {type} and {conversation} where they are wanted.`,
  });
const SUBJECT =
  '^(?:[A-Za-z0-9_-]|\\{type\\}|\\{conversation\\})+(?:\\.(?:[A-Za-z0-9_-]|\\{type\\}|\\{conversation\\})+)*$';

/** A secret: stored encrypted, never shown again. Empty ones are not given. */
const Secret =
  (example: string): PropertyDecorator =>
  (target, key) => {
    ApiPropertyOptional({ writeOnly: true, maxLength: MAX_SECRET, example })(target, key);
    IfGiven()(target, key);
    IsString()(target, key);
    MinLength(1)(target, key);
    MaxLength(MAX_SECRET)(target, key);
  };

export class NatsRequest {
  /** Host and port; `nats:` without and `tls:` with TLS. */
  @ApiProperty({ maxLength: 1_024, example: 'tls://nats.example.com:4222' })
  @isUrlOf('nats')
  url!: string;

  /** Subject of a stream of yours. `{type}` stands for the kind of event, `{conversation}` for the conversation. */
  @ApiPropertyOptional({
    type: String,
    pattern: SUBJECT,
    maxLength: 200,
    default: 'herald.{type}',
    example: 'herald.{type}',
  })
  @IfGiven()
  @MaxLength(200)
  @Matches(new RegExp(SUBJECT), {
    message:
      'subject must be tokens of letters, digits, _ and -, separated by dots, with {type} and {conversation} where they are wanted.',
  })
  subject: string = 'herald.{type}';

  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 200, example: 'herald' })
  @IfGiven()
  @IsString()
  @MaxLength(200)
  username?: string;

  /** With `username`. Left out: as it is, unless host or port change. */
  @Secret('s3cret')
  password?: string;

  /** In place of user name and password. */
  @Secret('s3cr3t-token')
  token?: string;

  /** Text of a credentials file (JWT and seed), in place of the others. */
  @Secret('-----BEGIN NATS USER JWT-----')
  credentials?: string;
}

export class RabbitmqRequest {
  /** Host, port and virtual host; `amqps:` with TLS. */
  @ApiProperty({ maxLength: 1_024, example: 'amqps://rabbitmq.example.com:5671/production' })
  @isUrlOf('rabbitmq')
  url!: string;

  /** Name of an exchange that is there; empty: the default one, whose routing key is the name of a queue. */
  @ApiProperty({ maxLength: 255, example: 'herald' })
  @IsString()
  @MaxLength(255)
  exchange!: string;

  /** `{type}` stands for the kind of event, `{conversation}` for the conversation. */
  @ApiPropertyOptional({ type: String, pattern: TEMPLATE, maxLength: 150, default: '{type}', example: '{type}' })
  @IfGiven()
  @MaxLength(150)
  @isTemplate('routing_key')
  routing_key: string = '{type}';

  @ApiProperty({ maxLength: 200, example: 'herald' })
  @IsString()
  @MaxLength(200)
  username!: string;

  /** Left out in a change: as it is, unless host or port change. */
  @Secret('s3cret')
  password?: string;
}

export class SqsRequest {
  /** Of the queue, as AWS shows it. One that ends with `.fifo` keeps the order of each conversation. */
  @ApiProperty({ maxLength: 1_024, example: 'https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo' })
  @isUrlOf('sqs')
  queue_url!: string;

  @ApiProperty({ maxLength: 50, example: 'eu-central-1' })
  @Matches(/^[a-z0-9-]{1,50}$/, { message: 'region must be the name of a region, such as eu-central-1.' })
  region!: string;

  @ApiProperty({ maxLength: 200, example: 'AKIAIOSFODNN7EXAMPLE' })
  @IsString()
  @MinLength(1)
  @MaxLength(200)
  access_key_id!: string;

  /** Left out in a change: as it is, unless the host of the queue changes. */
  @Secret('wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY')
  secret_access_key?: string;

  /** Of temporary credentials. */
  @Secret('AQoDYXdzEJr')
  session_token?: string;
}

export class NatsData {
  @ApiProperty({ example: 'tls://nats.example.com:4222' })
  url!: string;

  @ApiProperty({ example: 'herald.{type}' })
  subject!: string;

  @ApiProperty({ type: String, nullable: true, example: 'herald' })
  username!: string | null;
}

export class RabbitmqData {
  @ApiProperty({ example: 'amqps://rabbitmq.example.com:5671/production' })
  url!: string;

  @ApiProperty({ example: 'herald' })
  exchange!: string;

  @ApiProperty({ example: '{type}' })
  routing_key!: string;

  @ApiProperty({ example: 'herald' })
  username!: string;
}

export class SqsData {
  @ApiProperty({ example: 'https://sqs.eu-central-1.amazonaws.com/123456789012/herald.fifo' })
  queue_url!: string;

  @ApiProperty({ example: 'eu-central-1' })
  region!: string;

  @ApiProperty({ example: 'AKIAIOSFODNN7EXAMPLE' })
  access_key_id!: string;
}
