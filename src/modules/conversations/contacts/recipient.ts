/** A business-scoped user id: the country, `ENT.` where several businesses share it, letters and digits. */
export const USER_ID = /^[A-Z]{2}\.(?:ENT\.)?[A-Za-z0-9]{1,128}$/;

/** Distinguishes a user id from a number's digits. */
export function isUserId(recipient: string): boolean {
  return recipient.includes('.');
}
