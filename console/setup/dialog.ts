import type { Dialog, SignupKind } from './calls.ts';

/** What the sign-up gave: a code, and the account and number that it opens. */
export interface SignupResult {
  code: string;
  waba_id: string;
  phone_number_id?: string;
}

/** `closed`: it was left before its end; `blocked`: no window came; `incomplete`: no account was named. */
export type SignupEnd = SignupResult | 'closed' | 'blocked' | 'incomplete';

interface Session {
  event: string;
  data: { waba_id?: unknown; phone_number_id?: unknown };
}

interface FacebookSdk {
  init(options: object): void;
  login(done: (response: { authResponse?: { code?: string } | null }) => void, options: object): void;
}

declare global {
  interface Window {
    FB?: FacebookSdk;
    fbAsyncInit?: () => void;
  }
}

const SDK = 'https://connect.facebook.net';
/** Of the two answers of the dialog, the code and the ids, either may come first. */
const OTHER_ANSWER_MS = 4_000;
const CLOSED_EVERY_MS = 400;
/** In the place of a code. */
const BLOCKED = '';

/** Loads what the dialog needs, so that a click opens it at once. @returns false where it could not be loaded */
export function prepareDialog(dialog: Dialog, locale: string): Promise<boolean> {
  if (dialog.simulator_url !== null || window.FB !== undefined) return Promise.resolve(true);
  return new Promise((resolve) => {
    window.fbAsyncInit = () => {
      window.FB?.init({ appId: dialog.app_id, autoLogAppEvents: false, xfbml: false, version: dialog.api_version });
      resolve(true);
    };
    const script = document.createElement('script');
    script.src = `${SDK}/${locale}/sdk.js`;
    script.async = true;
    script.crossOrigin = 'anonymous';
    script.addEventListener('error', () => resolve(false));
    document.head.append(script);
  });
}

/** Ends the hearing of the dialog before: only the last one that was opened counts. */
let leaveFormer: () => void = () => undefined;

/** Opens the dialog; call it from a click. It never ends where another one is opened before. */
export async function openDialog(dialog: Dialog, signup: SignupKind): Promise<SignupEnd> {
  leaveFormer();
  const session = listen(dialog);
  leaveFormer = session.end;
  try {
    const code = dialog.simulator_url === null ? await meta(dialog, signup) : await simulated(dialog, signup, session);
    if (session.isOver) return new Promise(() => undefined);
    if (code === BLOCKED) return 'blocked';
    if (code === null) return 'closed';
    const ids = await session.ids();
    return ids === null ? 'incomplete' : { code, ...ids };
  } finally {
    session.end();
  }
}

/** Embedded signup v4: what it offers is in the configuration, so that nothing but the kind of number stands here. */
function meta({ config_id }: Dialog, signup: SignupKind): Promise<string | null> {
  return new Promise((resolve) => {
    window.FB?.login((response) => resolve(response.authResponse?.code ?? null), {
      config_id,
      response_type: 'code',
      override_default_response_type: true,
      extras: extrasOf(signup),
    });
  });
}

function extrasOf(signup: SignupKind): object {
  return signup === 'app' ? { setup: {}, featureType: 'whatsapp_business_app_onboarding' } : { setup: {} };
}

type Listener = ReturnType<typeof listen>;

/** The same in a window of the simulator, whose code comes as a message too. */
function simulated(dialog: Dialog, signup: SignupKind, session: Listener): Promise<string | null> {
  const url = new URL('/dialog/signup', dialog.simulator_url ?? '');
  url.searchParams.set('app_id', dialog.app_id);
  url.searchParams.set('config_id', dialog.config_id);
  url.searchParams.set('origin', location.origin);
  if (signup === 'app') url.searchParams.set('feature', 'whatsapp_business_app_onboarding');
  const opened = window.open(url, 'signup', 'popup,width=520,height=680');
  if (opened === null) return Promise.resolve(BLOCKED);
  return new Promise((resolve) => {
    session.onCode = resolve;
    const watch = setInterval(() => {
      if (!opened.closed && !session.isOver) return;
      clearInterval(watch);
      // A message that was on its way when the window closed comes first.
      if (!session.isOver) setTimeout(() => session.onCode(null), CLOSED_EVERY_MS);
    }, CLOSED_EVERY_MS);
  });
}

/** Hears what the dialog says beside its code; messages of other origins are none of it. */
function listen(dialog: Dialog) {
  const origin = dialog.simulator_url === null ? null : new URL(dialog.simulator_url).origin;
  let session: Session | null = null;
  let heard: () => void = () => undefined;
  const listener = {
    onCode: (_code: string | null): void => undefined,
    /** The ids; null where the dialog named no account. */
    ids: async (): Promise<{ waba_id: string; phone_number_id?: string } | null> => {
      if (session === null) {
        await new Promise<void>((resolve) => {
          heard = resolve;
          setTimeout(resolve, OTHER_ANSWER_MS);
        });
      }
      const { waba_id: account, phone_number_id: number } = session?.data ?? {};
      if (typeof account !== 'string') return null;
      return { waba_id: account, ...(typeof number === 'string' && { phone_number_id: number }) };
    },
    isOver: false,
    end: () => {
      listener.isOver = true;
      window.removeEventListener('message', hear);
    },
  };
  const hear = (event: MessageEvent): void => {
    const isOfDialog = origin === null ? isOfMeta(event.origin) : event.origin === origin;
    const said = isOfDialog ? parsed(event.data) : null;
    if (said === null) return;
    if (said.type === 'SIMULATED_LOGIN' && origin !== null) {
      listener.onCode(typeof said.code === 'string' ? said.code : null);
    } else if (said.type === 'WA_EMBEDDED_SIGNUP' && typeof said.event === 'string') {
      if (!said.event.startsWith('FINISH')) return;
      session = { event: said.event, data: said.data ?? {} };
      heard();
    }
  };
  window.addEventListener('message', hear);
  return listener;
}

function isOfMeta(origin: string): boolean {
  return /^https:\/\/([a-z0-9-]+\.)*facebook\.com$/.test(origin);
}

function parsed(data: unknown): Record<string, unknown> | null {
  if (typeof data !== 'string') return null;
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
