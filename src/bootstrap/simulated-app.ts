/**
 * The app of the simulator, whose dialog every installation has that runs with it. Its ids are those that the simulator
 * knows (`simulator/src/numbers/numbers.ts`); it takes the app of any token for this one.
 */
export const SIMULATED_APP = { appId: '670843887433847', signupConfigId: '1' } as const;
