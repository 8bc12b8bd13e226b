import { Injectable } from '@nestjs/common';
import type { OpenAPIObject } from '@nestjs/swagger';

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
