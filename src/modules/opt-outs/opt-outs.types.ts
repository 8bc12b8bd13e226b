import { isOnlyFormer } from '../conversations/contacts/recipient.types.js';

export const OPT_OUT_SOURCES = ['own', 'platform'] as const;
/** Who recorded it: the workspace, or WhatsApp. */
export type OptOutSource = (typeof OPT_OUT_SOURCES)[number];

export const OPT_OUT_CATEGORIES = ['marketing', 'all'] as const;
/** What the person refuses: marketing templates, or any message of POST /messages. */
export type OptOutCategory = (typeof OPT_OUT_CATEGORIES)[number];

/** An entry in the form of the API. */
export interface OptOut {
  id: string;
  /** The number of WhatsApp's entry; null: all numbers of the workspace. */
  connectionId: string | null;
  source: OptOutSource;
  category: OptOutCategory;
  phone: string | null;
  userId: string | null;
  reason: string | null;
  since: Date;
}

/** Why a message is not sent. */
export interface OptOutFound {
  source: OptOutSource;
  /** ISO 8601. */
  since: string;
}

/** A message that an opt-out may block. */
export interface OptOutTarget {
  organizationId: string;
  connectionId: string;
  /** Digits or a user id. */
  recipient: string;
  conversationId: string | null;
}

/** The opt-outs for a target: of marketing templates, and of everything else. */
export interface OptOutsFound {
  marketing: OptOutFound | null;
  others: OptOutFound | null;
}

/** A choice of a person, reported by the person or about them. */
export interface OptOutReport {
  organizationId: string;
  /** For WhatsApp's report: the number concerned. */
  connectionId: string | null;
  source: OptOutSource;
  category: OptOutCategory;
  /** Digits. */
  phone: string | null;
  userId: string | null;
  optedOut: boolean;
  /** Null: now. */
  at: Date | null;
  reason: string | null;
}

/** WhatsApp's code for a marketing message to a person who opted out. */
export const OPTED_OUT_CODE = 131050;

/** SQL of the relation `n (name)`: the names by which an entry may know a message's contact. */
const namesOf = (recipient: string, conversationId: string, organizationId: string): string => `(
      select ${recipient} as name
      union all
      select name from conversation c cross join lateral unnest(array[c.phone, c.wa_id, c.user_id, c.id::text]) as name
      where c.organization_id = ${organizationId} and (c.id = ${conversationId} or c.merged_into = ${conversationId})
        and name is not null
      union all
      select a.name from conversation c join conversation_alias a on a.conversation_id = c.id
      where c.organization_id = ${organizationId} and (c.id = ${conversationId} or c.merged_into = ${conversationId})
        and ${isOnlyFormer('a')}) as n`;

/**
 * SQL of one JSON object, `source` and `since` of the opt-out that blocks a message; null where there is none. A
 * workspace without opt-outs costs one look into the index of `opt_out_salt`.
 *
 * @param message expressions of its columns; `isMarketing`: whether it is a marketing template.
 */
export function optOutOf(message: Record<keyof OptOutTarget | 'isMarketing', string>): string {
  const { organizationId, connectionId, recipient, conversationId, isMarketing } = message;
  return `case when exists (select from opt_out_salt s where s.organization_id = ${organizationId}) then (
    select jsonb_build_object('source', o.source, 'since', to_char(o.since at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
    from opt_out_salt s cross join ${namesOf(recipient, conversationId, organizationId)}
    join opt_out_name k on k.organization_id = s.organization_id and k.hash = ${hashOf('s.salt', 'n.name')}
    join opt_out o on o.id = k.opt_out_id
    where s.organization_id = ${organizationId} and o.active and (o.category = 'all' or ${isMarketing})
      and (o.connection_id is null or o.connection_id = ${connectionId})
    order by o.source, o.since limit 1) end`;
}

/** SQL: a name in the form of `opt_out_name`. */
export const hashOf = (salt: string, name: string): string => `sha256(convert_to(${salt} || ${name}, 'UTF8'))`;
