// A login by one-time code in one file: POST /login {"phone"}, POST /login/code {"code"}, GET /me.
// HERALD_URL=http://127.0.0.1:3000 HERALD_OTP_KEY=hrld_test_… PORT=8080 node login.mjs
import { randomUUID } from 'node:crypto';
import { createServer } from 'node:http';

const { HERALD_URL, HERALD_OTP_KEY, PORT = '8080' } = process.env;
const sessions = new Map(); // in production, the session store of your framework

async function otp(path, body, headers = {}) {
  const response = await fetch(`${HERALD_URL}/api/v1/otp/${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${HERALD_OTP_KEY}`, 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(10_000),
  });
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.error.message), answer.error);
  return answer.data;
}

/** The code's id stays in the session: the browser never names it. */
async function sendCode(session, { phone }) {
  // The key belongs to this press of the button; repeated after a timeout it sends nothing twice.
  const sent = await otp('send', { to: String(phone) }, { 'idempotency-key': `login-${randomUUID()}` });
  session.challenge = sent.id;
  session.user = null;
  // Only a sandbox answers with the code.
  return { sent: true, ...(sent.test_code && { test_code: sent.test_code }) };
}

async function checkCode(session, { code }) {
  if (!session.challenge) throw Object.assign(new Error('Ask for a code first.'), { code: 'NO_CODE' });
  const { recipient } = await otp('verify', { id: session.challenge, code: String(code) });
  session.challenge = null;
  // Who it is says the answer and not the form.
  session.user = recipient;
  return { user: recipient };
}

/** What your page does next, by Herald's code. */
const NEXT = {
  OTP_CODE_INCORRECT: 'type the code again',
  INVALID_REQUEST: 'check the six digits, or the number with its country code',
  OTP_RECIPIENT_INVALID: 'check the number with its country code',
  OTP_RESEND_TOO_SOON: 'wait, then ask for a new code',
  OTP_CODE_EXPIRED: 'ask for a new code',
  OTP_CODE_ALREADY_USED: 'ask for a new code',
  OTP_ATTEMPTS_EXHAUSTED: 'ask for a new code',
  NO_CODE: 'ask for a code',
};

async function serve(request, response) {
  const cookie = /\bsid=([\w-]{36})/.exec(request.headers.cookie ?? '')?.[1];
  const session = sessions.get(cookie) ?? { challenge: null, user: null };
  const answer = (status, body, headers = {}) =>
    response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(`${JSON.stringify(body)}\n`);
  try {
    if (request.url === '/me') return answer(session.user ? 200 : 401, { user: session.user });
    const work = { '/login': sendCode, '/login/code': checkCode }[request.url];
    // Another site can make a browser post a form, but not JSON.
    if (!work || request.headers['content-type'] !== 'application/json') return answer(404, {});
    let text = '';
    for await (const chunk of request) if ((text += chunk).length > 1_000) return answer(413, {});
    const done = await work(session, JSON.parse(text));
    // A new id at each step: one that was known before the login is worth nothing after it.
    const id = randomUUID();
    sessions.delete(cookie);
    sessions.set(id, session);
    return answer(200, done, { 'set-cookie': `sid=${id}; HttpOnly; SameSite=Lax; Path=/` });
  } catch (error) {
    const next = NEXT[error.code] ?? 'offer another way to log in';
    return answer(400, { error: error.code, next, wait: error.retry_after_seconds });
  }
}

const server = createServer((request, response) => void serve(request, response));
server.listen(Number(PORT), '127.0.0.1', () =>
  console.log(`The login is at http://127.0.0.1:${server.address().port}`),
);
