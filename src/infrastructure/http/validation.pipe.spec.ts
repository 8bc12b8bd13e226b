import type { ArgumentMetadata } from '@nestjs/common';
import { IsArray, IsIn, IsInt, IsOptional, IsString, MaxLength } from 'class-validator';
import type { AppError, ErrorDetail } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { bodySchema } from './body-schema.js';
import { RequestValidationPipe } from './validation.pipe.js';

class Thing {
  @IsString()
  name!: string;

  @IsOptional()
  @IsInt()
  size?: number;
}

class Things {
  @IsArray()
  @IsIn(['a', 'bb', 'ccc'], { each: true })
  @MaxLength(2, { each: true })
  names!: string[];
}

const pipe = new RequestValidationPipe();

async function refused(value: unknown, metadata: ArgumentMetadata): Promise<string[]> {
  const error = (await pipe.transform(value, metadata).catch((thrown: unknown) => thrown)) as AppError;
  const details = error.extra.details as ErrorDetail[];
  return [error.code, ...details.map(({ field, rule }) => `${field}: ${rule}`)];
}

describe('a body of a DTO class', () => {
  const body = { type: 'body', metatype: Thing } as const;

  it('becomes an object of the class', async () => {
    expect(await pipe.transform({ name: 'a', size: 1 }, body)).toBeInstanceOf(Thing);
  });

  it.each([
    [undefined, 'name: required'],
    [null, ': type'],
    [[], ': type'],
    ['x', ': type'],
    [{ name: 'a', size: '1' }, 'size: type'],
    [{ name: 'a', more: 1 }, 'more: unknown_field'],
  ])('%j is refused: %s', async (given, expected) => {
    expect(await refused(given, body)).toEqual(['INVALID_REQUEST', expected]);
  });
});

describe('items of a list', () => {
  const body = { type: 'body', metatype: Things } as const;

  it.each([
    ['x', ['names: type']],
    [
      ['a', 'x', 'bb', 7],
      ['names[1]: one_of', 'names[3]: length'],
    ],
    [['ccc'], ['names[0]: length']],
    [Array.from({ length: 30 }, () => 'x'), Array.from({ length: 20 }, (_, index) => `names[${index}]: one_of`)],
  ])('%j is refused with the place of each invalid item', async (names, expected) => {
    expect(await refused({ names }, body)).toEqual(['INVALID_REQUEST', ...expected]);
  });

  it('the message names the item', async () => {
    const error = (await pipe.transform({ names: ['a', 'x'] }, body).catch((thrown: unknown) => thrown)) as AppError;
    expect(error.message).toBe('names[1] must be a, bb or ccc.');
  });
});

describe('a query of a DTO class', () => {
  const query = { type: 'query', metatype: Thing } as const;

  it('has the types that the class declares', async () => {
    expect(await pipe.transform({ name: '1', size: '1' }, query)).toEqual({ name: '1', size: 1 });
  });

  it.each([
    [{ name: 'a', size: '' }, 'size: type'],
    [{ name: ['a', 'b'] }, 'name: repeated'],
    [{ name: '\u0000' }, 'name: text'],
    [JSON.parse('{"name":"a","__proto__":"b"}'), '__proto__: unknown_field'],
  ])('%j is refused: %s', async (given, expected) => {
    expect(await refused(given, query)).toEqual(['INVALID_REQUEST', expected]);
  });
});

describe('a body with a schema', () => {
  it('is what the reader returns, and refused as it refuses', async () => {
    const schema = bodySchema((given) => {
      if (given === 'bad') throw commonErrors.VALIDATION_FAILED({ details: [{ field: 'a', rule: 'b', message: 'c' }] });
      return { given };
    });
    expect(await pipe.transform('good', { type: 'body', schema })).toEqual({ given: 'good' });
    expect(await refused('bad', { type: 'body', schema })).toEqual(['VALIDATION_FAILED', 'a: b']);
  });

  it('may be of another library: its issues become details', async () => {
    const issues = [{ message: 'must be there', path: ['items', 0, { key: 'name' }] }];
    const schema = { '~standard': { version: 1, vendor: 'other', validate: () => ({ issues }) } } as const;
    expect(await refused({}, { type: 'body', schema })).toEqual(['INVALID_REQUEST', 'items[0].name: schema']);
  });
});
