export type TemplateStatus =
  | 'APPROVED'
  | 'PENDING'
  | 'REJECTED'
  | 'PAUSED'
  | 'DISABLED'
  | 'IN_APPEAL'
  | 'PENDING_DELETION'
  | 'DELETED'
  | 'ARCHIVED';

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
  category: 'AUTHENTICATION' | 'MARKETING' | 'UTILITY';
  status: TemplateStatus;
  parameterFormat: 'POSITIONAL' | 'NAMED';
  components: TemplateComponent[];
  rejectedReason: string;
  qualityScore: 'GREEN' | 'YELLOW' | 'RED' | 'UNKNOWN';
  /** Milliseconds since the epoch. */
  createdAt: number;
  updatedAt: number;
}
