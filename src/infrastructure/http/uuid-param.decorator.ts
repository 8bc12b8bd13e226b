import { Injectable, Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { AppError } from '../../common/app-error.js';
import { commonErrors } from '../../common/common.errors.js';
import { isUuid } from '../../common/ids.js';

export interface UuidParamOptions {
  /** What a text that is no UUID means. Default: INVALID_REQUEST (400) naming the parameter. */
  malformed?: () => AppError;
  description?: string;
  example?: string;
}

/** A UUID of the path, in lower case. Writes the parameter into the API description as well. */
export function UuidParam(name: string, options: UuidParamOptions = {}): ParameterDecorator {
  const malformed = options.malformed ?? (() => malformedId(name));
  return (target, key, index) => {
    Param(name, new UuidPipe(malformed))(target, key, index);
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key === undefined || descriptor === undefined) return;
    ApiParam({
      name,
      format: 'uuid',
      ...(options.description === undefined ? {} : { description: options.description }),
      ...(options.example === undefined ? {} : { example: options.example }),
    })(target, key, descriptor);
  };
}

function malformedId(name: string): AppError {
  return commonErrors.INVALID_REQUEST({
    details: [{ field: name, rule: 'format', message: `${name} must be a UUID.` }],
  });
}

@Injectable()
class UuidPipe implements PipeTransform<string, string> {
  constructor(private readonly malformed: () => AppError) {}

  transform(text: string): string {
    if (!isUuid(text)) throw this.malformed();
    return text.toLowerCase();
  }
}
