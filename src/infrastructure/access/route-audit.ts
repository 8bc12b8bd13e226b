import { Injectable, type OnModuleInit } from '@nestjs/common';
import { METHOD_METADATA } from '@nestjs/common/internal.js';
import { DiscoveryService, MetadataScanner } from '@nestjs/core';
import { routePolicyOf } from './route-policy.js';

/** Stops the boot where a route says neither who may call it nor that everybody may: forgetting is not a choice. */
@Injectable()
export class RouteAudit implements OnModuleInit {
  constructor(
    private readonly discovery: DiscoveryService,
    private readonly scanner: MetadataScanner,
  ) {}

  onModuleInit(): void {
    const open = this.discovery.getControllers().flatMap(({ metatype }) => this.openRoutesOf(metatype));
    if (open.length === 0) return;
    throw new Error(`these routes have neither @RequireScope nor @Public: ${open.join(', ')}`);
  }

  private openRoutesOf(controller: object | null): string[] {
    if (typeof controller !== 'function') return [];
    const prototype = controller.prototype as Record<string, unknown>;
    return this.scanner
      .getAllMethodNames(prototype)
      .filter((name) => Reflect.hasMetadata(METHOD_METADATA, prototype[name] as object))
      .filter((name) => routePolicyOf(controller, prototype[name] as object) === null)
      .map((name) => `${controller.name}.${name}`);
  }
}
