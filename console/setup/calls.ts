export type SignupKind = 'cloud' | 'app' | 'manual';
export type StepName = 'access' | 'subscribe' | 'register' | 'connect' | 'history' | 'test';
export type Mender = 'business' | 'operator' | 'time';

export interface Problem {
  code: string;
  message: string;
  field: string | null;
  mended_by: Mender;
  platform_message: string | null;
}

export interface Step {
  name: StepName;
  state: 'open' | 'done' | 'failed';
  problem: Problem | null;
}

export interface Dialog {
  app_id: string;
  config_id: string;
  api_version: string;
  /** Null: Meta's own. */
  simulator_url: string | null;
}

/** What `GET /setup/{token}/state` answers, and each step. */
export interface State {
  workspace: string;
  signup: SignupKind;
  locale: string;
  expires_at: string;
  dialog: Dialog | null;
  steps: Step[];
  return_url: string | null;
  connection: { phone_number: string; verified_name: string | null; status: string } | null;
  continuation: string | null;
}

interface Refusal {
  code: string;
  message: string;
  retry_after_seconds?: number;
  details?: { field: string; message: string }[];
}

/** The service refused the request, or did not answer (`code` is then `AWAY`). */
export class Refused extends Error {
  readonly code: string;
  readonly retryAfterSeconds: number | null;
  readonly details: readonly { field: string; message: string }[];

  constructor({ code, message, retry_after_seconds: seconds, details = [] }: Refusal) {
    super(message);
    this.code = code;
    this.retryAfterSeconds = seconds ?? null;
    this.details = details;
  }
}

const CALL_MS = 90_000;
/** Of this page's own address, which names the link. */
const LINK = location.pathname.replace(/\/+$/, '');

/** @throws Refused */
async function call(path: string, body?: object): Promise<State> {
  const answer = await fetch(`${LINK}/${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    ...(body !== undefined && { headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) }),
    cache: 'no-store',
    signal: AbortSignal.timeout(CALL_MS),
  })
    .then(async (response) => (await response.json()) as { data?: State; error?: Refusal })
    .catch(() => ({ error: { code: 'AWAY', message: '' } as Refusal, data: undefined }));
  if (answer.data === undefined) throw new Refused(answer.error ?? { code: 'AWAY', message: '' });
  return answer.data;
}

export const readState = (): Promise<State> => call('state');

export const takeStep = (name: StepName, body: object): Promise<State> => call(`steps/${name}`, body);
