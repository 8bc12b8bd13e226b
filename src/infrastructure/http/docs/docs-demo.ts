import type { IncomingMessage } from 'node:http';
import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';
import { Config } from '../../config/config.js';
import { isLocal } from '../public-url.js';

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

  /** Null in production, without a demo workspace, and for a caller that is not definitely on this machine. */
  keysFor(request: IncomingMessage): DemoKeys | null {
    const { production, demo } = this.config.process;
    return !production && demo && isLocal(request) ? this.keys : null;
  }
}

/** Values that stand for the examples' ids in the description that this process serves. */
@Injectable()
export class ExampleValues {
  private readonly values = new Map<string, string>();

  /** From now on `value` is shown where the committed description has `example`. */
  replace(example: string, value: string): void {
    this.values.set(example, value);
  }

  /** What is shown for `example`. */
  shown(example: string): string {
    return this.values.get(example) ?? example;
  }

  applyTo(document: OpenAPIObject): OpenAPIObject {
    if (this.values.size === 0) return document;
    let text = JSON.stringify(document);
    for (const [example, value] of this.values) text = text.replaceAll(example, value);
    return JSON.parse(text) as OpenAPIObject;
  }
}
