/** Distinguishes a user id from a number's digits. */
export function isUserId(recipient: string): boolean {
  return recipient.includes('.');
}

/**
 * SQL condition: no contact has this former phone or wa_id now. If a contact has it, the number may belong to another
 * person by now, so it no longer leads to the former contact.
 *
 * @param alias a row of `conversation_alias`.
 */
export const isOnlyFormer = (alias: string): string => `not exists (
    select from conversation h where h.connection_id = ${alias}.connection_id
      and (h.phone = ${alias}.name or h.wa_id = ${alias}.name))`;
