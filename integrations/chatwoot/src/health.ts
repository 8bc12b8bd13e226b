type Direction = 'events' | 'answers';

/** What /health says. */
export class Progress {
  private lastReadAt: string | null = null;
  private passedOver = 0;
  private readonly trouble = new Map<Direction, { error: string; since: string }>();

  read(): void {
    this.lastReadAt = new Date().toISOString();
  }

  succeeded(direction: Direction): void {
    this.trouble.delete(direction);
  }

  failed(direction: Direction, error: string): void {
    const since = this.trouble.get(direction)?.since ?? new Date().toISOString();
    this.trouble.set(direction, { error, since });
  }

  skipped(): void {
    this.passedOver++;
  }

  /** `status` is `ok`, or says what keeps it. */
  report(waitingAnswers: number, isReady: boolean) {
    return {
      status: !isReady ? 'starting' : this.trouble.size === 0 ? 'ok' : 'trouble',
      trouble: Object.fromEntries(this.trouble),
      last_event_at: this.lastReadAt,
      waiting_answers: waitingAnswers,
      skipped_events: this.passedOver,
    };
  }
}
