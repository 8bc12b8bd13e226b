import { ERROR_STATUS } from '../../../common/app-error.js';
import type { DocumentedError } from '../../../common/define-errors.js';

/** The page that every `doc_url` points to: one place a code. */
export function errorsPage(errors: readonly DocumentedError[]): string {
  const index = errors.map(({ code }) => `<li><a href="#${code}">${code}</a></li>`).join('\n');
  const entries = errors.map((error) => entryOf(error)).join('\n');
  return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="icon" href="data:,">
<title>Herald API: error codes</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 50rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h2 { font: 600 1.1rem ui-monospace, monospace; margin: 2.5rem 0 .25rem; scroll-margin-top: 1rem; }
h2:target { background: #fff3bf; }
ul.index { columns: 20rem auto; overflow-wrap: anywhere; font: .85rem ui-monospace, monospace; padding-left: 1.2rem; }
dt { font-weight: 600; } dd { margin: 0 0 .5rem; }
</style>
</head>
<body>
<h1>Error codes</h1>
<p>Every error answer is <code>{"error": {"code", "message", "request_id", "doc_url", ...}}</code>. Codes never change their
meaning. Give the <code>request_id</code> when you ask for help.</p>
<ul class="index">
${index}
</ul>
${entries}
</body>
</html>
`;
}

function entryOf(error: DocumentedError): string {
  const statuses = [...new Set([error.kind, ...error.alsoKinds])].map((kind) => ERROR_STATUS[kind]).join(', ');
  return `<h2 id="${error.code}">${error.code}</h2>
<dl>
<dt>Status</dt><dd>${statuses}</dd>
<dt>Message</dt><dd>${escaped(error.message)}</dd>
<dt>When</dt><dd>${escaped(error.when)}</dd>
<dt>What to do</dt><dd>${escaped(error.fix)}</dd>
</dl>`;
}

function escaped(text: string): string {
  const html = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('"', '&quot;');
  return html.replace(/`([^`]+)`/g, '<code>$1</code>');
}
