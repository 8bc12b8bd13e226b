import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsOptional, Matches } from 'class-validator';
import { USER_ID } from '../../../common/user-id.js';

const optionalText = (pattern: RegExp, message: string): PropertyDecorator =>
  applyDecorators(ApiPropertyOptional({ pattern: pattern.source }), IsOptional(), Matches(pattern, { message }));

export const OptionalPhone = (name: string): PropertyDecorator =>
  optionalText(
    /^\+?[0-9]{8,16}$/,
    `${name} must be a phone number of 8 to 16 digits, the + written as %2B or left out.`,
  );

export const OptionalUserId = (): PropertyDecorator =>
  optionalText(USER_ID, 'recipient must be a user id such as DE.1795.');
