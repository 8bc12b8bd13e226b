export const MOST_EMAIL = 320;

export const EMAIL = /^[^\s@]+@[^\s@]+$/;

/**
 * As addresses are stored and compared. Letters of ASCII alone lose their case: others may become letters of ASCII, as the
 * sign of Kelvin becomes k, and would make one address of two.
 */
export function addressOf(email: string): string {
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
