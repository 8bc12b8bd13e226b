import type { Setting } from '../setting.js';

/** What the commands that speak to a running service over its API need; the service itself reads neither. */
export const COMMAND_LINE_SETTINGS: readonly Setting[] = [
  {
    name: 'HERALD_URL',
    section: 'Command line',
    type: 'string',
    fallback: null,
    meaning:
      'Where `herald message`, `tail` and `demo` find the service. Default: the address in DATA_DIR/demo.json, else http://127.0.0.1:PORT.',
  },
  {
    name: 'HERALD_API_KEY',
    section: 'Command line',
    type: 'string',
    fallback: null,
    secret: true,
    meaning: 'Key with which `herald message` and `tail` call the API. Default: that of DATA_DIR/demo.json.',
  },
];
