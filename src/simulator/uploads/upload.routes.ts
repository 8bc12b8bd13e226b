import { createHash } from 'node:crypto';
import { type Answer, jsonAnswer } from '../http/answer.js';
import type { Call } from '../http/call.js';
import { unknownObject } from '../http/graph-path.js';
import { letRunOff } from '../http/run-off.js';
import { invalidParam } from '../messages/checks.js';
import { SIMULATED_APP } from '../numbers/simulated-app.js';
import type { SimulatorContext } from '../simulator-context.js';
import { UploadSession } from './upload-session.js';

/** The oldest sessions are forgotten beyond it. */
const MOST_SESSIONS = 1_000;

/**
 * Registers the resumable upload, which gives the handles for media headers of templates and for profile pictures:
 * `POST /{app_id}/uploads`, `POST /upload:...`, `GET /upload:...`. Sessions don't outlive the process.
 */
export function registerUploadRoutes(context: SimulatorContext): void {
  const { router } = context;
  const sessions = new Map<string, UploadSession>();
  router.resolveNodes((id) => (id === SIMULATED_APP.id || id === 'app' ? 'app' : null));
  router.resolveNodes((id) => (sessions.has(id) ? 'upload_session' : null));
  router.graph('GET', 'app', '', () => jsonAnswer(SIMULATED_APP));
  router.graph('POST', 'app', 'uploads', (call) => begin(context, sessions, call));
  router.graph('POST', 'upload_session', '', (call) => proceed(sessions, call), 'stream');
  router.graph('GET', 'upload_session', '', (call) => {
    const session = sessionOf(sessions, call);
    return jsonAnswer({ id: nameOf(session), file_offset: session.offset });
  });
}

function begin(context: SimulatorContext, sessions: Map<string, UploadSession>, call: Call): Answer {
  const body = /^\s*\{/.test(call.text) ? call.jsonObject() : Object.fromEntries(new URLSearchParams(call.text));
  const read = (name: string): unknown => call.query.get(name) ?? body[name];
  const number = context.ids.newObjectId();
  const id = `upload:${Buffer.from(`1:attachment:${number}`).toString('base64url')}`;
  const signature = createHash('sha256').update(`${number} ${context.ids.traceId()}`).digest('base64url').slice(0, 24);
  const type = read('file_type');
  if (typeof type !== 'string') throw invalidParam('The parameter file_type is required.');
  const session = new UploadSession(id, signature, Number(read('file_length') ?? Number.NaN), type);
  sessions.set(id, session);
  if (sessions.size > MOST_SESSIONS) sessions.delete(sessions.keys().next().value ?? '');
  return jsonAnswer({ id: nameOf(session) });
}

async function proceed(sessions: Map<string, UploadSession>, call: Call): Promise<Answer> {
  const { request } = call;
  try {
    const session = sessionOf(sessions, call);
    const offset = Number(request.headers.file_offset ?? 0);
    const handle = await session.take(offset, request.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>);
    return jsonAnswer(handle === null ? { id: nameOf(session), file_offset: session.offset } : { h: handle });
  } catch (error) {
    await letRunOff(request);
    throw error;
  }
}

function sessionOf(sessions: Map<string, UploadSession>, call: Call): UploadSession {
  const session = sessions.get(call.nodeId);
  const signature = call.query.get('sig');
  if (session === undefined || (signature !== null && signature !== session.signature)) {
    throw unknownObject(call.request.method ?? 'GET', call.nodeId);
  }
  return session;
}

/** The signature is part of the id, although it looks like a query. */
function nameOf(session: UploadSession): string {
  return `${session.id}?sig=${session.signature}`;
}
