import { Child } from '../../test/support/rig/child.js';
import { compiled } from '../../test/support/rig/paths.js';
import type { Scope } from '../../test/support/rig/scope.js';
import type { LoadOrder, LoadResult } from './load.types.js';

/** Runs the load generator in a process of its own. @throws Error when any request failed, or none was answered: its figure would be void */
export async function runLoad(scope: Scope, order: LoadOrder): Promise<LoadResult> {
  const child = Child.start(scope, {
    name: 'the load generator',
    args: [compiled('bench/load/load.main')],
    // Not an argument: a thousand bodies and keys are more than the system takes there.
    input: JSON.stringify(order),
  });
  const result = JSON.parse(await child.result()) as LoadResult;
  if (result.failed > 0) {
    throw new Error(`${result.failed} requests to ${order.url} failed, the first with: ${result.firstFailure}`);
  }
  if (result.answered === 0) throw new Error(`no request to ${order.url} was answered within ${order.durationMs} ms`);
  return result;
}
