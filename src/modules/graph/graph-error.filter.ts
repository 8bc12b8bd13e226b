import { Catch, Injectable } from '@nestjs/common';
import type { AppError } from '../../common/app-error.js';
import { ErrorFilter } from '../../infrastructure/http/error.filter.js';
import { graphErrorBody } from './graph-errors.js';

/** Errors in the form that clients of the Cloud API expect. */
@Injectable()
@Catch()
export class GraphErrorFilter extends ErrorFilter {
  protected override answerOf(error: AppError, requestId: string): { status: number; body: object } {
    return graphErrorBody(error, requestId);
  }
}
