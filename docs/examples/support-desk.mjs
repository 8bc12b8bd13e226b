// A support desk in one file: who wrote, what was said, an answer, files.
// HERALD_URL=http://127.0.0.1:3000 HERALD_API_KEY=hrld_live_… PORT=8080 node support-desk.mjs
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const { HERALD_URL, HERALD_API_KEY, PORT = '8080' } = process.env;

async function herald(method, path, body, headers = {}) {
  const response = await fetch(`${HERALD_URL}/api/v1${path}`, {
    method,
    headers: { authorization: `Bearer ${HERALD_API_KEY}`, 'content-type': 'application/json', ...headers },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error.message), { code: answer.error.code });
  return answer.data;
}

const escape = (text) => String(text ?? '').replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
const nameOf = ({ name, phone, user_id }) => escape(name ?? phone ?? user_id);
const isOpen = ({ service_window_closes_at: end }) => end !== null && new Date(end) > new Date();
const REMARKS = ['reaction', 'system', 'edit', 'revoke'];
const FILES = ['image', 'video', 'audio', 'document', 'sticker'];

async function list() {
  const conversations = await herald('GET', '/conversations?limit=50');
  const rows = conversations.map(
    (each) => `<li><a href="/c/${each.id}">${nameOf(each.contact)}</a> (${each.unread_count} unread):
      ${escape(each.last_message?.body ?? each.last_message?.type)}</li>`,
  );
  return `<meta http-equiv="refresh" content="5"><h1>Conversations</h1><ul>${rows.join('')}</ul>`;
}

async function thread(id) {
  const [conversation, messages] = await Promise.all([
    herald('GET', `/conversations/${id}`),
    herald('GET', `/messages?conversation_id=${id}&limit=50`),
  ]);
  const newest = messages.find(({ direction, type }) => direction === 'inbound' && !REMARKS.includes(type));
  if (conversation.unread_count > 0 && newest) {
    // The blue ticks are a courtesy: where WhatsApp can't be asked now, the thread is still shown.
    await herald('POST', `/messages/${newest.id}/read`).catch((error) => console.error(`not marked: ${error.message}`));
  }
  // An edit or a withdrawal is shown at the message that it changes.
  const shown = messages.filter((message) => !message.edits_message_id && !message.revokes_message_id);
  const lines = shown.toReversed().map((message) => {
    const said = message.revoked_at ? '(withdrawn)' : (message.current?.body ?? message.body ?? message.type);
    const file = FILES.includes(message.type) ? ` <a href="/file/${message.id}">${message.type}</a>` : '';
    const who = message.direction === 'inbound' ? nameOf(conversation.contact) : `You (${message.status})`;
    return `<p><b>${who}:</b> ${escape(said)}${file}</p>`;
  });
  // The key is made with the form: sent twice, by a double click or a reload, it makes one message.
  const form = `<form method="post"><input type="hidden" name="key" value="${randomUUID()}">
    <input name="text" autofocus required maxlength="4096"> <button>Answer</button>
    until ${escape(conversation.service_window_closes_at)}</form>`;
  const closed = '<p>The window is closed: only a template may be sent until the customer writes again.</p>';
  return `<a href="/">All</a><h1>${nameOf(conversation.contact)}</h1>${lines.join('')}${isOpen(conversation) ? form : closed}`;
}

async function answer(id, form) {
  const { connection_id, contact } = await herald('GET', `/conversations/${id}`);
  const to = contact.phone === null ? { recipient: contact.user_id } : { to: `+${contact.phone}` };
  const message = { connection_id, ...to, type: 'text', text: { body: form.get('text') } };
  await herald('POST', '/messages', message, { 'idempotency-key': form.get('key') });
}

async function fileOf(id) {
  const { media_object_id: media } = await herald('GET', `/messages/${id}`);
  return (await herald('GET', `/media/${media}/url`)).url;
}

async function bodyOf(request) {
  let text = '';
  for await (const chunk of request) if ((text += chunk).length > 100_000) throw new Error('The form is too long.');
  return new URLSearchParams(text);
}

async function serve(request, response) {
  const [, place, id] = new URL(request.url, 'http://localhost').pathname.split('/');
  const go = (address) => response.writeHead(303, { location: address }).end();
  const show = (status, html) =>
    response.writeHead(status, { 'content-type': 'text/html; charset=utf-8' }).end(`<!doctype html>${html}`);
  try {
    if (place === 'file') return go(await fileOf(id));
    if (place === 'c' && request.method === 'POST') {
      await answer(id, await bodyOf(request));
      return go(`/c/${id}`);
    }
    if (place === 'c') return show(200, await thread(id));
    return place === '' ? show(200, await list()) : show(404, 'Nothing is here.');
  } catch (error) {
    // A file that comes soon, one that never comes, a window that closed meanwhile: the code says which.
    return show(502, `<p>${escape(error.code)}: ${escape(error.message)}</p><a href="/">All</a>`);
  }
}

const server = createServer((request, response) => void serve(request, response));
server.listen(Number(PORT), '127.0.0.1', () => console.log(`The desk is at http://127.0.0.1:${server.address().port}`));
