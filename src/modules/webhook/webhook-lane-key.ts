const PREFIX = 'webhook:';

/** The lane of an endpoint's deliveries. */
export function laneKeyOf(endpointId: string): string {
  return `${PREFIX}${endpointId}`;
}

export function endpointOfLane(laneKey: string): string {
  return laneKey.slice(PREFIX.length);
}
