import { AppError } from '../../common/app-error.js';
import { defineErrors, error } from '../../common/define-errors.js';
import { platformFault } from '../../platform/whatsapp/platform-fault.js';
import type { PlatformFailure } from '../../platform/whatsapp/platform-result.js';

export const templatesErrors = defineErrors('templates', {
  TEMPLATE_NOT_FOUND: error({
    kind: 'not_found',
    alsoKinds: ['unprocessable', 'conflict'],
    message: "There is no such template on this connection's account; GET /connections/{id}/templates lists them.",
    when: 'No template of that name, or not in that language, belongs to the account of the connection.',
    fix: 'Take name and language from GET /connections/{id}/templates, or create the template.',
  }),
  TEMPLATE_NOT_APPROVED: error<{ status: string }>({
    kind: 'unprocessable',
    alsoKinds: ['conflict'],
    message: ({ status }) => `This template is ${status}; only an approved one can be sent.`,
    when: 'The template waits for its review, or was rejected, paused or disabled.',
    fix: 'Wait for the approval, or send another template; `template_status` says what it is now.',
    extra: ({ status }) => ({ template_status: status }),
    sample: { status: 'pending' },
  }),
  TEMPLATE_PARAMETERS_MISMATCH: error<{ expected: object; given: object; message: string }>({
    kind: 'unprocessable',
    alsoKinds: ['conflict'],
    message: ({ message }) => message,
    when: "The components of the message do not fill the template's variables.",
    fix: "Send one parameter for each variable, as `expected` says; the template's `variables` list them.",
    extra: ({ expected, given }) => ({ expected, given }),
    sample: {
      expected: { component: 'body', parameters: 2 },
      given: { component: 'body', parameters: 1 },
      message: 'The body takes 2 parameters, not 1.',
    },
  }),
});

/** What the caller is told where the templates could not be listed and nothing is known of them yet. */
export function listError(failure: PlatformFailure): AppError {
  const error = platformFault(failure);
  if (error.code !== 'PLATFORM_REJECTED') return error;
  const { kind, code, extra } = error;
  return new AppError({
    kind,
    code,
    extra,
    message: `The messaging platform refused to list the templates: ${failure.message}`,
  });
}

/** What the caller is told of a failed write: without a clear answer it may have taken effect, and he must know that. */
export function writeError(failure: PlatformFailure): AppError {
  const error = platformFault(failure);
  if (failure.kind === 'rejected') return error;
  const cause = failure.kind === 'timeout' ? 'did not answer in time' : 'could not be reached or gave no clear answer';
  return new AppError({
    kind: error.kind,
    code: error.code,
    message: `The messaging platform ${cause}; the change may have been made all the same: read the template before you repeat it.`,
    internal: failure.message,
  });
}
