export const MOST_EMAIL = 320;

export const EMAIL = /^[^\s@]+@[^\s@]+$/;

/**
 * The form in which addresses are stored and compared. Only ASCII letters lose their case: other letters may become
 * ASCII ones, like the Kelvin sign becomes k, and two addresses would become equal.
 */
export function addressOf(email: string): string {
  return email.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
}
