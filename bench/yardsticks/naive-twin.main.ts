import 'reflect-metadata';
import { BullModule, InjectQueue } from '@nestjs/bullmq';
import { Body, Controller, Headers, HttpCode, Injectable, Module, Post, ValidationPipe } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import {
  createPostgresBackend,
  setDefaultBackendFactory,
  type BackendFactory,
  type Queue,
  type RedisQueueBackend,
} from 'bullmq';
import { Type } from 'class-transformer';
import { IsIn, IsObject, IsString, IsUUID, Length, Matches, ValidateNested } from 'class-validator';
import pg from 'pg';
import type { AddressInfo } from 'node:net';
import type { Server } from 'node:http';
import type { Repository } from 'typeorm';
import { makeTables } from './bullmq-jobs.js';
import { TwinMessage } from './twin-message.js';

// The service as a tutorial would build it: check the body, save the row, add a job. Same database server, same
// durability; no API key, no rate limit, no window, no answer to a repeated key.
setDefaultBackendFactory(createPostgresBackend as unknown as BackendFactory<RedisQueueBackend>);
const databaseUrl = process.env.DATABASE_URL ?? '';

class TextDto {
  @IsString()
  @Length(1, 4_096)
  body!: string;
}

class SendDto {
  @IsUUID()
  connection_id!: string;

  @Matches(/^\+?[0-9]{8,16}$/)
  to!: string;

  @IsIn(['text'])
  type!: string;

  @IsObject()
  @ValidateNested()
  @Type(() => TextDto)
  text!: TextDto;
}

@Injectable()
class TwinService {
  constructor(
    @InjectRepository(TwinMessage) private readonly messages: Repository<TwinMessage>,
    @InjectQueue('send') private readonly queue: Queue,
  ) {}

  async send(key: string, input: SendDto): Promise<TwinMessage> {
    const message = await this.messages.save({
      idempotencyKey: key,
      connectionId: input.connection_id,
      recipient: input.to,
      type: input.type,
      content: { body: input.text.body },
      status: 'queued',
      attemptCount: 0,
    });
    await this.queue.add('send', { messageId: message.id }, { removeOnComplete: true });
    return message;
  }
}

@Controller('api/v1/messages')
class TwinController {
  constructor(private readonly service: TwinService) {}

  @Post()
  @HttpCode(202)
  async send(@Headers('idempotency-key') key: string, @Body() body: SendDto) {
    const message = await this.service.send(key, body);
    return { data: { id: message.id, status: message.status } };
  }
}

await makeTables(databaseUrl);
const queuePool = new pg.Pool({ connectionString: databaseUrl, options: '-c search_path=bullmq', max: 8 });

@Module({
  imports: [
    TypeOrmModule.forRoot({
      type: 'postgres',
      url: databaseUrl,
      poolSize: 10,
      entities: [TwinMessage],
      synchronize: true,
    }),
    TypeOrmModule.forFeature([TwinMessage]),
    BullModule.forRoot({ connection: queuePool }),
    BullModule.registerQueue({ name: 'send' }),
  ],
  controllers: [TwinController],
  providers: [TwinService],
})
class TwinModule {}

const app = await NestFactory.create(TwinModule, { logger: ['error', 'warn'] });
app.useGlobalPipes(new ValidationPipe({ whitelist: true }));
await app.listen(0, '127.0.0.1');
process.stdout.write(`listens on port ${((app.getHttpServer() as Server).address() as AddressInfo).port}\n`);
process.once('SIGTERM', () => process.exit(0));
