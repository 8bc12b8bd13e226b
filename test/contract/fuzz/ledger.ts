import { asCurl, shortened, type Answer, type Call } from './caller.js';
import type { Violation } from './checks.js';

export interface Finding extends Violation {
  /** Operation and kind of request. */
  where: string;
  call: string;
  answer: string;
}

/** What was asked, and what was found. */
export class Ledger {
  readonly findings: Finding[] = [];
  private readonly byKind = new Map<string, number>();
  private readonly byOperation = new Map<string, Set<string>>();

  count(operationId: string, kind: string, { status }: Answer): void {
    this.byKind.set(kind, (this.byKind.get(kind) ?? 0) + 1);
    const seen = this.byOperation.get(operationId) ?? new Set();
    seen.add(status < 300 ? 'accepted' : 'refused');
    this.byOperation.set(operationId, seen);
  }

  find(where: string, call: Call, answer: Answer, violations: readonly Violation[]): void {
    for (const one of violations) {
      const known = this.findings.some((other) => other.where === where && other.check === one.check);
      if (known) continue;
      const seen = `${answer.status} ${shortened(answer.text, 600)}`;
      this.findings.push({ where, ...one, call: asCurl(call), answer: seen });
    }
  }

  /** The test itself could not go on. */
  stumble(where: string, error: unknown): void {
    const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
    this.findings.push({ where, check: 'test', message, call: '', answer: '' });
  }

  /** Operations that never gave an answer of this kind. */
  without(kind: 'accepted' | 'refused', operationIds: readonly string[]): string[] {
    return operationIds.filter((id) => this.byOperation.get(id)?.has(kind) !== true);
  }

  total(prefix = ''): number {
    return [...this.byKind].filter(([kind]) => kind.startsWith(prefix)).reduce((sum, [, count]) => sum + count, 0);
  }

  summary(): string {
    const kinds = [...this.byKind].sort(([a], [b]) => (a < b ? -1 : 1));
    return kinds.map(([kind, count]) => `${kind} ${count}`).join(', ');
  }

  report(): string[] {
    return this.findings.map(
      ({ where, check, message, call, answer }) => `${where}: ${check}: ${message}\n    ${call}\n    ${answer}`,
    );
  }
}
