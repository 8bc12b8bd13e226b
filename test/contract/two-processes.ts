import { startSmallApp, type SmallApp } from './small-app.js';
import { ThingsController } from './things.controller.js';

export interface TwoProcesses {
  readonly small: SmallApp;
  /** Another process with the same database. */
  readonly other: SmallApp;
  /** A key of a new workspace with these limits. */
  keyOf(limits?: { ratePerSecond?: number; rateBurst?: number }): Promise<string>;
}

/** Starts them for the tests of a file. */
export function twoProcesses(): TwoProcesses {
  let small: SmallApp;
  let other: SmallApp;

  beforeAll(async () => {
    small = await startSmallApp({ controllers: [ThingsController] });
    other = await startSmallApp({ controllers: [ThingsController], beside: small });
  });

  afterAll(async () => {
    await other.close();
    await small.close();
  });

  return {
    get small() {
      return small;
    },
    get other() {
      return other;
    },
    keyOf: async (limits = {}) => {
      const { id } = await small.factories.workspace(limits);
      return (await small.factories.apiKey({ organizationId: id })).text;
    },
  };
}
