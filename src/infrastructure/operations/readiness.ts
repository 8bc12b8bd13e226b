import { Injectable } from '@nestjs/common';

export interface ReadinessPart {
  ok: boolean;
  /** For whoever looks at the probe: one sentence or figure, nothing secret. */
  detail?: string;
}

/** One condition under which this process may be sent traffic. */
export abstract class ReadinessCheck {
  abstract readonly name: string;
  /** False where looking costs nothing and must see a change at once. */
  readonly mayBeRemembered: boolean = true;

  /** Must end within a second, one way or the other; what it throws counts as not ready. */
  abstract check(): Promise<ReadinessPart>;
}

export interface ReadinessReport {
  status: 'ready' | 'not_ready';
  parts: Record<string, ReadinessPart>;
}

const CHECK_TIMEOUT_MS = 1_000;
/** Probes are public: more of them must not cost more. */
const REMEMBERED_MS = 500;

interface Remembered {
  part: Promise<ReadinessPart>;
  at: number;
}

/** Gathers what every queue says about being ready. */
@Injectable()
export class Readiness {
  private readonly checks: ReadinessCheck[] = [];
  private readonly remembered = new Map<ReadinessCheck, Remembered>();

  /** Adds a condition; call it while the application starts. */
  register(check: ReadinessCheck): void {
    this.checks.push(check);
  }

  async report(): Promise<ReadinessReport> {
    const parts = await Promise.all(this.checks.map(async (check) => [check.name, await this.partOf(check)] as const));
    return {
      status: parts.every(([, part]) => part.ok) ? 'ready' : 'not_ready',
      parts: Object.fromEntries(parts),
    };
  }

  /** One look at a check serves all that ask within half a second of its begin. */
  private partOf(check: ReadinessCheck): Promise<ReadinessPart> {
    if (!check.mayBeRemembered) return partOf(check);
    const known = this.remembered.get(check);
    const now = performance.now();
    if (known !== undefined && now - known.at < REMEMBERED_MS) return known.part;
    const part = partOf(check);
    this.remembered.set(check, { part, at: now });
    return part;
  }
}

async function partOf(check: ReadinessCheck): Promise<ReadinessPart> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<ReadinessPart>((resolve) => {
    timer = setTimeout(() => resolve({ ok: false, detail: 'no answer' }), CHECK_TIMEOUT_MS);
  });
  try {
    return await Promise.race([check.check(), late]);
  } catch {
    // Drivers' messages may name hosts and users; the log has them.
    return { ok: false, detail: 'failed' };
  } finally {
    clearTimeout(timer);
  }
}
