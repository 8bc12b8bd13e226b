import { AppError, type AppErrorInit } from '../../common/app-error.js';
import { defineErrors, error } from '../../common/define-errors.js';
import { platformError, type PlatformFailure } from '../../infrastructure/whatsapp/platform-result.js';

export const templatesErrors = defineErrors('templates', {
  TEMPLATE_NOT_FOUND: error({
    kind: 'not_found',
    alsoKinds: ['unprocessable', 'conflict'],
    message: "There is no such template on this connection's account; GET /connections/{id}/templates lists them.",
    when: 'No template of that name, or not in that language, belongs to the account of the connection; in the latter case `available_languages` names those in which it exists.',
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
  META_APP_ID_MISSING: error({
    kind: 'conflict',
    message:
      'This Herald does not know its Meta app, for which sample files are uploaded: its operator must set META_APP_ID. Or give header_handle.',
    when: 'A template names its sample file by `media_object_id`, and the setting META_APP_ID is not there.',
    fix: 'The operator sets META_APP_ID and starts Herald again; until then give `header_handle`, from an upload of your own.',
  }),
});

const MAX_LANGUAGES = 20;

/**
 * TEMPLATE_NOT_FOUND for a template that exists in other languages. It lists them, first one that differs only in
 * spelling, such as `en_US` for `en-US`.
 */
export function notInLanguage(language: string, existing: readonly string[]): AppError {
  const spelling = (code: string): string => code.replaceAll('-', '_').toLowerCase();
  const isMeant = (code: string): boolean => spelling(code) === spelling(language);
  const languages = [...existing].sort((a, b) => Number(isMeant(b)) - Number(isMeant(a))).slice(0, MAX_LANGUAGES);
  const [first = ''] = languages;
  const hint = isMeant(first) ? `; its code is written ${first}` : `, only in ${languages.join(', ')}`;
  return reworded(templatesErrors.TEMPLATE_NOT_FOUND(), {
    message: `This template does not exist in the language ${language}${hint}.`,
    extra: { available_languages: languages },
  });
}

/** The templates could not be listed, and there is no mirror yet. */
export function listError(failure: PlatformFailure): AppError {
  const error = platformError(failure);
  if (error.code !== 'PLATFORM_REJECTED') return error;
  return reworded(error, { message: `The messaging platform refused to list the templates: ${failure.message}` });
}

/** A failed write: without a clear answer it may have taken effect, and the caller must know that. */
export function writeError(failure: PlatformFailure): AppError {
  const error = platformError(failure);
  if (failure.kind === 'rejected') return error;
  const cause = failure.kind === 'timeout' ? 'did not answer in time' : 'could not be reached or gave no clear answer';
  return reworded(error, {
    message: `The messaging platform ${cause}; the change may still have been made: read the template before you repeat it.`,
    internal: failure.message,
    extra: {},
  });
}

function reworded({ kind, code, extra }: AppError, words: Partial<AppErrorInit> & { message: string }): AppError {
  return new AppError({ kind, code, extra, ...words });
}
