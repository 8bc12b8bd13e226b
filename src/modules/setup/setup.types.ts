/**
 * How the business gives access to its number: through WhatsApp's dialog, a number only for the API (`cloud`) or one
 * that stays in the WhatsApp Business app (`app`); or by pasting ids and a token (`manual`).
 */
export const SIGNUP_KINDS = ['cloud', 'app', 'manual'] as const;
export type SignupKind = (typeof SIGNUP_KINDS)[number];

/** The lifetime of a link in seconds. */
export const LINK_SECONDS = { least: 300, most: 30 * 86_400, usual: 7 * 86_400 } as const;

/** A language and a country, in WhatsApp's form. */
export const LOCALE = /^[a-z]{2}_[A-Z]{2}$/;

/** Whether it is a web address without user and password. */
export function isReturnUrl(text: unknown): text is string {
  if (typeof text !== 'string' || text.length > 2_000 || !/^https?:\/\//i.test(text) || !URL.canParse(text))
    return false;
  const { username, password } = new URL(text);
  return username === '' && password === '';
}

/**
 * In order: access to the account, its notifications, the number's registration, the connection. The last two are
 * optional.
 */
export const SETUP_STEPS = ['access', 'subscribe', 'register', 'connect', 'history', 'test'] as const;
export type SetupStep = (typeof SETUP_STEPS)[number];

/** Steps that a page may run after the link is used. */
export const LATER_STEPS: readonly SetupStep[] = ['history', 'test'];

/** A number that stays in the WhatsApp Business app is already registered, and only such a number has a history. */
export function stepsOf(signup: SignupKind): SetupStep[] {
  return SETUP_STEPS.filter((step) =>
    step === 'register' ? signup !== 'app' : step !== 'history' || signup === 'app',
  );
}

/** Who can fix it: the business that opens the link, the operator of this service, or only time. */
export const MENDERS = ['business', 'operator', 'time'] as const;
export type Mender = (typeof MENDERS)[number];

/** Why a step failed. */
export interface SetupProblem {
  code: string;
  /** One sentence about the fault, and one about the remedy. */
  message: string;
  mendedBy: Mender;
  /** The page's field with the invalid value. */
  field: string | null;
  /** The platform's own words. */
  platform: string | null;
}

export interface StepState {
  state: 'done' | 'failed';
  problem: SetupProblem | null;
  /** ISO 8601. */
  at: string;
}

export type SetupSteps = Partial<Record<SetupStep, StepState>>;

/** A setup link, without its secrets. */
export interface SetupLink {
  id: string;
  organizationId: string;
  signup: SignupKind;
  locale: string;
  returnUrl: string | null;
  createdAt: Date;
  expiresAt: Date;
  /** When the page was first opened. */
  openedAt: Date | null;
  completedAt: Date | null;
  revokedAt: Date | null;
  /** The result of each step that was tried. */
  steps: SetupSteps;
  phoneNumberId: string | null;
  wabaId: string | null;
  connectionId: string | null;
}

export const LINK_STATUSES = ['open', 'completed', 'revoked', 'expired'] as const;
export type LinkStatus = (typeof LINK_STATUSES)[number];

/** @param now by the database's clock, milliseconds */
export function statusOf(link: Pick<SetupLink, 'completedAt' | 'revokedAt' | 'expiresAt'>, now: number): LinkStatus {
  if (link.completedAt !== null) return 'completed';
  if (link.revokedAt !== null) return 'revoked';
  return link.expiresAt.getTime() <= now ? 'expired' : 'open';
}
