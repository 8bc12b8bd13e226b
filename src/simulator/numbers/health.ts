/** The app that the simulator's notifications belong to. */
export const SIMULATED_APP = {
  link: 'https://www.facebook.com/games/?app_id=670843887433847',
  name: 'Simulated app',
  id: '670843887433847',
};
/** The portfolio that owns every account. */
export const BUSINESS = { id: '506914307656634', name: 'Simulated business' };

type Health = readonly [type: string, id: string, canSend: 'AVAILABLE' | 'LIMITED' | 'BLOCKED'];

/** The field of an object's health, with that of all it depends on: the worst of them decides. */
export function healthOf(entities: readonly Health[]): object {
  const worst = (['BLOCKED', 'LIMITED'] as const).find((state) => entities.some(([, , canSend]) => canSend === state));
  return {
    can_send_message: worst ?? 'AVAILABLE',
    entities: entities.map(([entity_type, id, can_send_message]) => ({ entity_type, id, can_send_message })),
  };
}

export function accountHealth(wabaId: string): Health[] {
  return [
    ['WABA', wabaId, 'AVAILABLE'],
    ['BUSINESS', BUSINESS.id, 'AVAILABLE'],
    ['APP', SIMULATED_APP.id, 'AVAILABLE'],
  ];
}
