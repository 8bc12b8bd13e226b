import type { PlanName } from './status-plan.js';

/** What a message is charged as; it also tells a template's category from free-form (`service`). */
export type PricingCategory = 'service' | 'utility' | 'marketing' | 'authentication';

/** A message that the platform took, as the journal keeps it. */
export interface TakenMessage {
  /** Counter behind the id; rises in the order in which messages were taken. */
  readonly sequence: number;
  readonly id: string;
  readonly phoneNumberId: string;
  /** The number addressed (digits) or the user id. */
  readonly to: string;
  /** The platform's own number of the recipient; null where only a user id is known. */
  readonly waId: string | null;
  /** `biz_opaque_callback_data`. */
  readonly callback: string | null;
  readonly type: string;
  readonly pricing: PricingCategory;
  /** Milliseconds since the epoch. */
  readonly takenAt: number;
  readonly plan: PlanName;
  /** The request's JSON on one line. Text, not an object: a million parsed bodies would not fit into memory. */
  readonly rawBody: string;
  /** Bit k is set when step k of the plan needs no more work. */
  doneSteps: number;
  /** Bit k is set when step k was handed to the courier by this process. */
  toldSteps: number;
}
