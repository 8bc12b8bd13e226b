/**
 * The simulator's Meta app, whose dialog every installation with the simulator has. The simulator knows these ids
 * (`simulator/src/numbers/numbers.ts`), and treats any token as one of this app.
 */
export const SIMULATED_APP = { appId: '670843887433847', signupConfigId: '1' } as const;
