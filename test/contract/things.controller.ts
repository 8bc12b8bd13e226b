import { Body, Controller, Delete, Get, HttpCode, Param, Post, Put, Query, Res } from '@nestjs/common';
import { ApiCreatedResponse, ApiParam, ApiQuery, ApiTags } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsDefined,
  IsIn,
  IsInt,
  IsOptional,
  IsString,
  IsUUID,
  Length,
  Max,
  Min,
  ValidateNested,
} from 'class-validator';
import type { Response } from 'express';
import { type Caller, CurrentCaller } from '../../src/modules/keys/caller.decorator.js';
import { Public, RequireScope } from '../../src/infrastructure/http/route-policy.js';
import { EXAMPLE_MESSAGE_ID } from '../../src/common/example-ids.js';
import { ApiErrors } from '../../src/infrastructure/http/api-description.js';
import { BodyAs } from '../../src/infrastructure/http/body.guard.js';
import { UuidParam } from '../../src/infrastructure/http/uuid-param.decorator.js';

class TextDto {
  @IsString()
  @Length(1, 4_096)
  body!: string;

  @IsOptional()
  @IsBoolean()
  preview_url?: boolean;
}

class ItemDto {
  @IsIn(['HEADER', 'BODY'])
  type!: string;
}

export class ThingDto {
  @IsUUID()
  connection_id!: string;

  @IsDefined()
  @ValidateNested()
  @Type(() => TextDto)
  text!: TextDto;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(2)
  @ValidateNested({ each: true })
  @Type(() => ItemDto)
  items?: ItemDto[];

  @IsOptional()
  @IsInt()
  @Min(60)
  @Max(600)
  ttl?: number;
}

export class RetryDto {
  @IsOptional()
  @IsBoolean()
  confirm?: boolean;
}

export class ListDto {
  @IsOptional()
  @IsInt()
  @Min(1)
  @Max(100)
  limit = 50;

  @IsOptional()
  @IsBoolean()
  active?: boolean;
}

const ThingId = (): ParameterDecorator => UuidParam('id', { example: EXAMPLE_MESSAGE_ID });

/** Routes that do nothing but show how every route behaves. */
@ApiTags('Messages')
@Controller('things')
export class ThingsController {
  @Post()
  @HttpCode(202)
  @RequireScope('messages:write')
  @ApiErrors('RATE_LIMITED')
  @ApiCreatedResponse({ description: 'Made.' })
  create(@CurrentCaller() caller: Caller, @Body() input: ThingDto) {
    return { data: { organization_id: caller.organizationId, input } };
  }

  @Post('echo')
  @RequireScope('messages:write')
  @BodyAs({ unprocessable: true })
  echo(@Body() body: unknown) {
    return { data: body ?? null };
  }

  @Post('small')
  @Public()
  small(@Body() body: unknown) {
    return { data: body ?? null };
  }

  @Get()
  @RequireScope('messages:read')
  list(@Query() query: ListDto) {
    return { data: query };
  }

  @Get('explode')
  @RequireScope('messages:read')
  explode(): never {
    throw new Error('the password is hunter2');
  }

  @Get('half')
  @RequireScope('messages:read')
  half(@Res() response: Response): never {
    response.write('{"data":');
    throw new Error('too late');
  }

  @Get('slow')
  @RequireScope('messages:read')
  @ApiQuery({ name: 'ms', example: '10' })
  async slow(@Query('ms') ms: string) {
    await new Promise((resolve) => setTimeout(resolve, Number(ms)).unref());
    return { data: 'done' };
  }

  @Get(':id')
  @RequireScope('messages:read')
  get(@ThingId() id: string) {
    return { data: { id } };
  }

  @Put(':id')
  @RequireScope('messages:write')
  @ApiParam({ name: 'id', example: 'a-thing' })
  replace(@Param('id') id: string, @Body() input: RetryDto) {
    return { data: { id, input } };
  }

  @Post(':id/retry')
  @HttpCode(202)
  @RequireScope('messages:write')
  retry(@ThingId() id: string, @Body() input: RetryDto) {
    return { data: { id, confirm: input.confirm ?? false } };
  }

  @Post(':id/touch')
  @HttpCode(202)
  @RequireScope('messages:write')
  touch(@ThingId() id: string) {
    return { data: { id } };
  }

  @Delete(':id')
  @HttpCode(204)
  @RequireScope('messages:write')
  remove(@ThingId() _id: string): void {}
}
