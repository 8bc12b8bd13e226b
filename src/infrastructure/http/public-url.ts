import type { Server } from 'node:http';
import { Injectable } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { Config } from '../config/config.js';

/** Under which address callers reach this service. */
@Injectable()
export class PublicUrl {
  private ofServer: string | null = null;

  constructor(
    private readonly config: Config,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  /** Without a trailing slash. PUBLIC_URL, else made of the host and the port that the server listens on. */
  get value(): string {
    return this.config.process.publicUrl ?? (this.ofServer ??= this.fromServer()) ?? this.fromSettings();
  }

  private fromServer(): string | null {
    const server: Server | undefined = this.adapterHost.httpAdapter?.getHttpServer();
    const address = server?.address();
    return typeof address === 'object' && address !== null ? this.on(address.port) : null;
  }

  private fromSettings(): string {
    return this.on(this.config.process.port);
  }

  private on(port: number): string {
    return `http://${hostText(this.config.process.host)}:${port}`;
  }
}

function hostText(host: string): string {
  if (host === '0.0.0.0' || host === '::') return '127.0.0.1';
  return host.includes(':') ? `[${host}]` : host;
}
