/** What stands before the id of the endpoint. */
export const WEBHOOK_LANE = 'webhook:';

/** The lane of an endpoint's deliveries. */
export function laneKeyOf(endpointId: string): string {
  return `${WEBHOOK_LANE}${endpointId}`;
}

export function endpointOfLane(laneKey: string): string {
  return laneKey.slice(WEBHOOK_LANE.length);
}
