/** The app that the simulator's notifications belong to. */
export const SIMULATED_APP = {
  link: 'https://www.facebook.com/games/?app_id=670843887433847',
  name: 'Simulated app',
  id: '670843887433847',
};
