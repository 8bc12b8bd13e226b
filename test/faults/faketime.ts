import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { LeftOut } from '../support/rig/fault-result.js';

const LIBRARIES = '/usr/lib';

/** A clock that a process sees instead of the machine's; the monotonic one stays true, as it does with real skew. */
export class FakeClock {
  private constructor(
    private readonly file: string,
    private readonly library: string,
  ) {}

  /** @throws LeftOut where libfaketime is not installed */
  static create(folder: string, name: string, offset: string): FakeClock {
    const clock = new FakeClock(join(folder, name), findLibrary());
    clock.set(offset);
    return clock;
  }

  /** Settings of the process that lives by it. */
  get settings(): Record<string, string> {
    return {
      LD_PRELOAD: this.library,
      FAKETIME_TIMESTAMP_FILE: this.file,
      FAKETIME_CACHE_DURATION: '1',
      FAKETIME_DONT_FAKE_MONOTONIC: '1',
      DONT_FAKE_MONOTONIC: '1',
    };
  }

  /** Jumps, within a second. @param offset from the machine's clock, such as `-1h` or `+60s` */
  set(offset: string): void {
    writeFileSync(this.file, `${offset}\n`);
  }
}

function findLibrary(): string {
  for (const folder of ['', ...namesIn(LIBRARIES)]) {
    const place = join(LIBRARIES, folder, 'faketime');
    if (namesIn(place).includes('libfaketimeMT.so.1')) return join(place, 'libfaketimeMT.so.1');
  }
  throw new LeftOut('libfaketime is not installed (Debian: apt-get install faketime)');
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
