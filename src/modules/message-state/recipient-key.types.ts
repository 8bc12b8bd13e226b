/**
 * The number that orders a contact's messages, even those addressed to the user id; null where only the user id is
 * known.
 *
 * @param id expression of a conversation's id.
 * @param organizationId expression of its workspace.
 */
const numberOfConversation = (id: string, organizationId: string): string => `(
  select coalesce(survivor.phone, survivor.wa_id, contact.phone, contact.wa_id)
  from conversation contact left join conversation survivor on survivor.id = contact.merged_into
  where contact.id = ${id} and contact.organization_id = ${organizationId})`;

/**
 * The key that orders messages to one recipient: the number, or the user id where no number is known.
 *
 * @param message relation with recipient, and with the columns of the other parameters.
 */
export const recipientKey = (
  message: string,
  userId = 'recipient_user_id',
  conversationId = 'conversation_id',
  organizationId = 'organization_id',
): string => `case when ${message}.${userId} is null then ${message}.recipient else coalesce(
    ${numberOfConversation(`${message}.${conversationId}`, `${message}.${organizationId}`)}, ${message}.recipient) end`;
