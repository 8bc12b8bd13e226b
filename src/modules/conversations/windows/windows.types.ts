/** WhatsApp closes the service window 24 h after the contact's last message (specification, business rules). */
export const WINDOW_MS = 24 * 60 * 60 * 1_000;

/** When the window that a contact's message opened closes; null where the contact never wrote. */
export function windowClosesAt(lastInboundAt: Date | null): Date | null {
  return lastInboundAt === null ? null : new Date(lastInboundAt.getTime() + WINDOW_MS);
}
