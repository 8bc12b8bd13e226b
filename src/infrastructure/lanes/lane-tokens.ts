/** The id under which this process holds lanes; new at every start. */
export const LANE_OWNER = Symbol('LANE_OWNER');

/** Bound on requests to the messaging platform that this process keeps open at once. */
export const PLATFORM_SLOTS = Symbol('PLATFORM_SLOTS');
