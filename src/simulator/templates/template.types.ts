export type TemplateStatus =
  | 'APPROVED'
  | 'PENDING'
  | 'REJECTED'
  | 'PAUSED'
  | 'DISABLED'
  | 'IN_APPEAL'
  | 'PENDING_DELETION'
  | 'DELETED'
  | 'FLAGGED'
  | 'LOCKED'
  | 'LIMIT_EXCEEDED'
  | 'ARCHIVED';

export type TemplateCategory = 'AUTHENTICATION' | 'MARKETING' | 'UTILITY';
export type ParameterFormat = 'POSITIONAL' | 'NAMED';
export type QualityScore = 'GREEN' | 'YELLOW' | 'RED' | 'UNKNOWN';

export interface TemplateButton {
  type: string;
  text?: string;
  url?: string;
  [key: string]: unknown;
}

export interface TemplateComponent {
  type: string;
  format?: string;
  text?: string;
  buttons?: TemplateButton[];
  [key: string]: unknown;
}

/** A message template as the platform stores it, one language of one name. */
export interface Template {
  id: string;
  wabaId: string;
  name: string;
  language: string;
  category: TemplateCategory;
  status: TemplateStatus;
  parameterFormat: ParameterFormat;
  components: TemplateComponent[];
  rejectedReason: string;
  qualityScore: QualityScore;
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
  /** What it was before the platform changed it. */
  previousCategory?: TemplateCategory;
  /** What it is going to be, where the platform has announced a change. */
  correctCategory?: TemplateCategory;
  /** How long a message may wait for its delivery; missing for the platform's default. */
  messageSendTtlSeconds?: number;
  /** When the simulator decides on a PENDING one, or lets go of a PENDING_DELETION one; milliseconds. */
  dueAt?: number;
  /** When it was edited while it was approved; milliseconds. */
  edits?: number[];
}
