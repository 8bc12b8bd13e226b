export type StatusName = 'sent' | 'delivered' | 'read' | 'failed';

export interface StatusStep {
  readonly status: StatusName;
  /** How many gaps after the message was taken. */
  readonly gaps: number;
  /** Only with `failed`. */
  readonly errorCode?: number;
}

const SENT: StatusStep = { status: 'sent', gaps: 1 };
const DELIVERED: StatusStep = { status: 'delivered', gaps: 2 };
const READ: StatusStep = { status: 'read', gaps: 3 };
const AT_ONCE = (['read', 'delivered', 'sent'] as const).map((status) => ({ status, gaps: 0 }));

/** What is told about a message, step by step. The journal stores the name, so a plan must not change its meaning. */
export const STATUS_PLANS = {
  all: [SENT, DELIVERED, READ],
  sent_only: [SENT],
  undeliverable: [{ status: 'failed', gaps: 1, errorCode: 131026 }],
  window_closed: [{ status: 'failed', gaps: 1, errorCode: 131047 }],
  media_failed: [{ status: 'failed', gaps: 1, errorCode: 131053 }],
  read_only: [SENT, { status: 'read', gaps: 2 }],
  backwards_twice: [...AT_ONCE, ...AT_ONCE],
  none: [],
} as const satisfies Record<string, readonly StatusStep[]>;

export type PlanName = keyof typeof STATUS_PLANS;

export function stepsOf(plan: PlanName): readonly StatusStep[] {
  return STATUS_PLANS[plan];
}

/** The bits of {@link TakenMessage.doneSteps} when nothing is left to tell. */
export function allSteps(plan: PlanName): number {
  return (1 << STATUS_PLANS[plan].length) - 1;
}
