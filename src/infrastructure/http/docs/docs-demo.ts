import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';
import { isLocal } from '../local-caller.js';

export interface DemoKeys {
  api_key: string;
  otp_sandbox_key: string;
}

/** The demo's keys, for Swagger UI in a browser on this machine. */
@Injectable()
export class DocsDemo {
  private keys: DemoKeys | null = null;

  constructor(private readonly config: Config) {}

  /** From now on local callers get them. */
  offer(keys: DemoKeys): void {
    this.keys = keys;
  }

  /** Null in production, without a demo workspace, and for whoever is not surely on this machine. */
  keysFor(request: IncomingMessage): DemoKeys | null {
    const { production, demo } = this.config.process;
    return !production && demo && isLocal(request) ? this.keys : null;
  }
}
