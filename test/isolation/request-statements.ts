import { jest } from '@jest/globals';
import { AsyncResource } from 'node:async_hooks';
import pg from 'pg';
import type { AuthenticatedRequest } from '../../src/modules/keys/caller.decorator.js';
import { requestContext } from '../../src/infrastructure/operations/logger.js';

type Method = (this: unknown, ...args: unknown[]) => unknown;

/**
 * Notes the text of each statement that runs within the request of a caller, once.
 *
 * @returns the texts, and a function that ends it.
 */
export function noteRequestStatements(): { texts: Set<string>; stop: () => void } {
  const texts = new Set<string>();
  const query = Reflect.get(pg.Client.prototype, 'query') as Method;
  const connect = Reflect.get(pg.Pool.prototype, 'connect') as Method;
  const spies = [
    jest.spyOn(pg.Client.prototype, 'query').mockImplementation(function noted(this: unknown, ...args: unknown[]) {
      const [statement] = args as [string | { text?: unknown }];
      const text = typeof statement === 'string' ? statement : statement.text;
      const request = requestContext.getStore() as Partial<AuthenticatedRequest> | undefined;
      if (typeof text === 'string' && request?.caller !== undefined) texts.add(text);
      return query.apply(this, args);
    }),
    // The pool lends a connection in the context of the request that gave it back; the statement belongs to the one who waited.
    jest.spyOn(pg.Pool.prototype, 'connect').mockImplementation(function bound(this: unknown, ...args: unknown[]) {
      const [callback] = args;
      return connect.apply(this, typeof callback === 'function' ? [AsyncResource.bind(callback as never)] : []);
    } as never),
  ];
  return { texts, stop: () => spies.forEach((spy) => spy.mockRestore()) };
}

const WORKSPACE = String.raw`organization_?id"?`;
/** What the workspace is compared with: a parameter, a list, a value that the program wrote, or another row's. */
const VALUE = String.raw`(\$\d+|any\s*\(|'[0-9a-f-]{36}'|("?\w+"?\.)?"?organization_?id)`;
/** It is compared, or it is among the columns of an insert. */
const NAMES_WORKSPACE = new RegExp(
  String.raw`${WORKSPACE}\s*(=|in)\s*\(?\s*${VALUE}|insert\s+into\s+"?\w+"?(\s+as\s+"?\w+"?)?\s*\([^)]*${WORKSPACE}`,
  'i',
);

export function namesWorkspace(text: string): boolean {
  return NAMES_WORKSPACE.test(withoutComments(text));
}

/** Those of the tables that a statement reads or writes. */
export function tablesOf(text: string, tables: readonly string[]): string[] {
  const touch = new RegExp(String.raw`\b(?:from|join|update|into)\s+(?:only\s+)?"?(${tables.join('|')})\b`, 'gi');
  const found = [...withoutComments(text).matchAll(touch)].map(([, table = '']) => table.toLowerCase());
  return [...new Set(found)].sort();
}

function withoutComments(text: string): string {
  return text.replaceAll(/--[^\n]*/g, ' ').replaceAll(/\/\*[^]*?\*\//g, ' ');
}
