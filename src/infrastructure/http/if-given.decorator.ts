import { ValidateIf } from 'class-validator';

/** The field may be left out. Unlike `@IsOptional()` it must not be null: what is left out has a meaning, null has none. */
export const IfGiven = (): PropertyDecorator => ValidateIf((_dto, value) => value !== undefined);
