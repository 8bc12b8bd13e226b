import { ERROR_STATUS } from '../../../common/app-error.js';
import type { DocumentedError } from '../../../common/define-errors.js';

const STATUS_TEXT: Readonly<Record<number, string>> = {
  400: 'the request is malformed',
  401: 'the key is missing or not valid',
  402: 'a subscription or package is missing, or a limit of spending is reached',
  403: 'the key or the link may not do this',
  404: 'there is no such thing in this workspace',
  405: 'this address does not take this method',
  409: 'the state of things forbids it',
  413: 'too large',
  415: 'another Content-Type is needed',
  422: 'the request is well formed and cannot be done',
  429: 'too many requests',
  500: 'a fault of Herald',
  502: 'the platform refused or did not answer clearly',
  503: 'not possible at the moment',
  504: 'the platform did not answer in time',
};

/**
 * The page that every `doc_url` points to: one entry per code, grouped by status.
 *
 * @param docs whether this process serves /docs; the page then links to it
 */
export function errorsPage(errors: readonly DocumentedError[], docs: boolean): string {
  const statuses = [...new Set(errors.map(({ kind }) => ERROR_STATUS[kind]))].sort((a, b) => a - b);
  const groups = statuses.map((status) => {
    const entries = errors.filter(({ kind }) => ERROR_STATUS[kind] === status);
    const title = `${status}${STATUS_TEXT[status] === undefined ? '' : `: ${STATUS_TEXT[status]}`}`;
    return `<section>\n<h2 id="status-${status}">${title}</h2>\n${entries.map(entryOf).join('\n')}\n</section>`;
  });
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="data:,">
<title>Herald API: error codes</title>
<style>
:root { color-scheme: light dark; --mark: light-dark(#fff3bf, #4d3f00); --line: light-dark(#d0d7de, #3d444d); }
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; }
h2 { border-bottom: 1px solid var(--line); margin-top: 3rem; }
h3 { font: 600 1.1rem ui-monospace, monospace; margin: 2rem 0 .25rem; scroll-margin-top: 4.5rem; overflow-wrap: anywhere; }
h3:target { background: var(--mark); }
nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
input { font: inherit; width: 100%; box-sizing: border-box; padding: .5rem; border: 1px solid var(--line); border-radius: 6px; }
.search { position: sticky; top: 0; padding: .75rem 0; background: Canvas; }
dt { font-weight: 600; } dd { margin: 0 0 .5rem; overflow-wrap: anywhere; }
[hidden] { display: none; }
</style>
</head>
<body>
${docs ? '<p><a href="/docs">← API description</a></p>\n' : ''}<h1>Error codes</h1>
<p>Every error answer is <code>{"error": {"code", "message", "request_id", "doc_url", ...}}</code>. Codes never change their
meaning. Give the <code>request_id</code> when you ask for help.</p>
<nav aria-label="Statuses">${statuses.map((status) => `<a href="#status-${status}">${status}</a>`).join('')}</nav>
<div class="search"><input type="search" id="search" placeholder="Search codes and texts" aria-label="Search"></div>
<p id="none" hidden>No code contains this.</p>
${groups.join('\n')}
<script src="/docs/errors.js"></script>
</body>
</html>
`;
}

function entryOf(error: DocumentedError): string {
  const statuses = [...new Set([error.kind, ...error.alsoKinds])].map((kind) => ERROR_STATUS[kind]).join(', ');
  return `<article>
<h3 id="${error.code}">${error.code}</h3>
<dl>
<dt>Status</dt><dd>${statuses}</dd>
<dt>Message</dt><dd>${escaped(error.message)}</dd>
<dt>When</dt><dd>${escaped(error.when)}</dd>
<dt>What to do</dt><dd>${escaped(error.fix)}</dd>
</dl>
</article>`;
}

function escaped(text: string): string {
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  return html.replace(/`([^`]+)`/g, '<code>$1</code>');
}
