import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { isLocal } from '../public-url.js';

export interface DemoKeys {
  api_key: string;
  otp_sandbox_key: string;
}

/** What Swagger UI shows of this installation: the demo's keys, and values in the place of the examples' ids. */
@Injectable()
export class DocsDemo {
  private keys: DemoKeys | null = null;
  private readonly values = new Map<string, string>();

  constructor(private readonly config: Config) {}

  /** From now on local callers get them. */
  offer(keys: DemoKeys): void {
    this.keys = keys;
  }

  /** Null in production, without a demo workspace, and for a caller that is not definitely on this machine. */
  keysFor(request: IncomingMessage): DemoKeys | null {
    const { production, demo } = this.config.process;
    return !production && demo && isLocal(request) ? this.keys : null;
  }

  /** From now on `value` is shown where the committed description has `example`. */
  replace(example: string, value: string): void {
    this.values.set(example, value);
  }

  /** The description, or a part of it, with those values. */
  filled<T extends object>(description: T): T {
    if (this.values.size === 0) return description;
    let text = JSON.stringify(description);
    for (const [example, value] of this.values) text = text.replaceAll(example, value);
    return JSON.parse(text) as T;
  }
}
