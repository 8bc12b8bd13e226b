import type { Server, IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Config } from '../config/config.js';

/** The address at which callers reach this service. */
@Injectable()
export class PublicUrl {
  private ofServer: string | null = null;

  constructor(
    private readonly config: Config,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** Without a trailing slash. PUBLIC_URL, otherwise built from the listening host and port. */
  get value(): string {
    return this.config.process.publicUrl ?? this.local;
  }

  /** The address at which this process reaches itself. */
  get local(): string {
    return (this.ofServer ??= this.fromServer()) ?? this.on(this.config.process.port);
  }

  private fromServer(): string | null {
    const server: Server | undefined = this.adapterHost.httpAdapter?.getHttpServer();
    const address = server?.address();
    return typeof address === 'object' && address !== null ? this.on(address.port) : null;
  }

  private on(port: number): string {
    return `http://${hostText(this.config.process.host)}:${port}`;
  }
}

function hostText(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}

/**
 * Hosts at which a browser on this machine reaches Herald; any other name may point here for a while (DNS rebinding).
 */
const LOCAL_HOST = /^(localhost|127\.0\.0\.1|\[::1\])(:\d+)?$/i;
const LOOPBACK = /^(::1|(::ffff:)?127(\.\d{1,3}){3})$/;
/** A request with one of these is forwarded for another caller, who may be anywhere. */
const FORWARDED = ['forwarded', 'via', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip'];

/** Whether a `Host` names this machine. */
export function isLocalHost(host: string | undefined): boolean {
  return LOCAL_HOST.test(host ?? '');
}

/** Whether the caller is a program or a page on this machine, and not a page of another site in a local browser. */
export function isLocal({ headers, socket }: IncomingMessage): boolean {
  if (FORWARDED.some((name) => headers[name] !== undefined)) return false;
  const site = headers['sec-fetch-site'];
  // `none`: the user typed the address.
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return false;
  return LOOPBACK.test(socket.remoteAddress ?? '') && isLocalHost(headers.host);
}
