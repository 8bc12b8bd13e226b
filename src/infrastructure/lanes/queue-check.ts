import { ReadinessCheck, type ReadinessPart } from '../operations/readiness.js';
import type { QueueConnection } from './queue-connection.js';

const ANSWERS_WITHIN_MS = 500;

/** Says whether the queue answers. Where it does not, workers find due rows by themselves: that makes no process unready. */
export class QueueCheck extends ReadinessCheck {
  readonly name = 'queue';

  constructor(private readonly connection: QueueConnection) {
    super();
  }

  async check(): Promise<ReadinessPart> {
    if (await this.answers()) return { ok: true };
    return { ok: true, detail: 'away: workers look for due rows once a second' };
  }

  private async answers(): Promise<boolean> {
    // A client of Redis keeps what it is asked meanwhile.
    if (this.connection.isAway) return false;
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<false>((resolve) => {
      timer = setTimeout(() => resolve(false), ANSWERS_WITHIN_MS);
    });
    const ping = this.connection.ping().then(
      () => true,
      () => false,
    );
    try {
      return await Promise.race([ping, late]);
    } finally {
      clearTimeout(timer);
    }
  }
}
