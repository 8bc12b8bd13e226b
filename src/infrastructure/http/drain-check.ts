import { ReadinessCheck, type ReadinessPart } from '../operations/readiness.js';
import type { Drain } from './drain.js';

/** Not ready from the moment the process was told to stop. */
export class DrainCheck extends ReadinessCheck {
  readonly name = 'accepting';
  override readonly mayBeRemembered = false;

  constructor(private readonly drain: Drain) {
    super();
  }

  check(): Promise<ReadinessPart> {
    return Promise.resolve(this.drain.stopping ? { ok: false, detail: 'stopping' } : { ok: true });
  }
}
