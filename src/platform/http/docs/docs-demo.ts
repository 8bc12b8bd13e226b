import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { Config } from '../../config/config.js';

export interface DemoKeys {
  api_key: string;
  otp_sandbox_key: string;
}

/** Hosts under which a browser of this machine reaches Herald; another name may lead here for a while (DNS rebinding). */
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
/** Who bears one of these speaks for somebody else, who may sit anywhere. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

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

function isLocal({ headers, socket }: IncomingMessage): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin') return false;
  return LOOPBACK.test(socket.remoteAddress ?? '') && LOCAL_HOST.test(headers.host ?? '');
}
