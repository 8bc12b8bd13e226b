const STATUS_NOTE = 'Every error body is `{"error": {"code", "message", "request_id", ...}}`.';

/**
 * `docs/errors.md` from the error tables, one section a code.
 *
 * @param errors what `declaredErrors()` returns
 * @param {Record<string, number>} statusOf HTTP status of each kind
 */
export function renderErrorsPage(errors, statusOf) {
  const lines = [
    '# Errors',
    '',
    '<!-- Generated from the error tables by `npm run generate`. -->',
    '',
    `${STATUS_NOTE} The code is stable; branch on it, not on the message.`,
  ];
  for (const error of errors) {
    const statuses = [error.kind, ...error.alsoKinds].map((kind) => statusOf[kind]);
    lines.push('', `## ${error.code}`, '', `Status ${[...new Set(statuses)].join(' or ')}. ${error.when}`);
    lines.push('', `What to do: ${error.fix}`);
  }
  return `${lines.join('\n')}\n`;
}
