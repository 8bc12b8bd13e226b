import { MOST_DETAILS, type ErrorDetail } from '../../../common/app-error.js';

/** What is wrong, and where: `field` like `components[1].buttons[0].url`. */
export type Fault = ErrorDetail;

/** Faults as they are found; the first 20 are kept. */
export class FaultList {
  readonly faults: Fault[] = [];

  add(field: string, rule: string, message: string): void {
    if (this.faults.length < MOST_DETAILS) this.faults.push({ field, rule, message });
  }

  /** `value` must be text of 1 to `max` characters. Returns it where it is text at all, else null. */
  text(value: unknown, field: string, max: number): string | null {
    if (value === undefined || value === null) {
      this.add(field, 'required', `${field} is missing.`);
      return null;
    }
    if (typeof value !== 'string') {
      this.add(field, 'type', `${field} must be a string.`);
      return null;
    }
    if (value.trim() === '') this.add(field, 'required', `${field} must not be empty.`);
    this.atMost(value, field, max);
    return value;
  }

  /** `text` must have at most `max` characters (code points, the reading that refuses least). */
  atMost(text: string, field: string, max: number): void {
    if (text.length <= max) return;
    const length = codePoints(text);
    if (length > max) this.add(field, 'length', `${field} must be at most ${max} characters long, not ${length}.`);
  }
}

function codePoints(text: string): number {
  let count = 0;
  for (const _character of text) count++;
  return count;
}
