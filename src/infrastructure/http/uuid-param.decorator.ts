import { Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import type { AppError } from '../../common/app-error.js';
import { invalidField } from '../../common/common.errors.js';
import { isUuid } from '../../common/ids.js';

export interface UuidParamOptions {
  /** The error for text that is not a UUID. Default: INVALID_REQUEST (400) naming the parameter. */
  malformed?: () => AppError;
  description?: string;
  example?: string;
}

/** A UUID in the path, in lower case. Also adds the parameter to the API description. */
export function UuidParam(name: string, { malformed, ...shown }: UuidParamOptions = {}): ParameterDecorator {
  const pipe: PipeTransform<string, string> = {
    transform(text) {
      if (!isUuid(text)) throw malformed?.() ?? invalidField(name, 'format', `${name} must be a UUID.`);
      return text.toLowerCase();
    },
  };
  return (target, key, index) => {
    Param(name, pipe)(target, key, index);
    const descriptor = key === undefined ? undefined : Object.getOwnPropertyDescriptor(target, key);
    if (key === undefined || descriptor === undefined) return;
    ApiParam({ name, format: 'uuid', ...shown })(target, key, descriptor);
  };
}
