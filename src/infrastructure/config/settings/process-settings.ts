import { ROLES, type Setting } from '../setting.js';

const port = { type: 'integer', min: 0, max: 65_535 } as const;

/** How this process runs, and what it says. */
export const PROCESS_SETTINGS: readonly Setting[] = [
  {
    name: 'NODE_ENV',
    section: 'Process',
    type: 'string',
    fallback: 'development',
    oneOf: ['development', 'test', 'production'],
    meaning: 'Production refuses the demo workspace, the embedded database and switches made for development.',
  },
  {
    name: 'ROLES',
    section: 'Process',
    type: 'list',
    fallback: null,
    oneOf: ROLES,
    meaning:
      'What this process does, separated by commas: api answers HTTP, worker sends and dispatches, simulator stands in for WhatsApp. Default: api,worker,simulator; in production it must be named.',
    requiredInProduction: 'always',
  },
  {
    name: 'HOST',
    section: 'Process',
    type: 'string',
    fallback: null,
    meaning: 'Address to listen on. Default: 127.0.0.1, in production 0.0.0.0.',
  },
  { name: 'PORT', section: 'Process', ...port, fallback: '3000', meaning: 'Port of the API; 0 takes any free port.' },
  {
    name: 'PUBLIC_URL',
    section: 'Process',
    type: 'string',
    fallback: null,
    meaning: 'Address under which callers reach this service, used in links. Default: http://HOST:PORT.',
  },
  {
    name: 'API_ALIAS_SUNSET',
    section: 'Process',
    type: 'string',
    fallback: null,
    meaning:
      'Day on which addresses below /api without a version will end, such as 2027-12-31: their answers then bear it as the header Sunset. Default: they stay.',
  },
  {
    name: 'DATA_DIR',
    section: 'Process',
    type: 'string',
    fallback: '.data',
    meaning: 'Folder of the embedded database, generated secrets, media and demo.json.',
  },
  {
    name: 'SHUTDOWN_TIMEOUT_MS',
    section: 'Process',
    type: 'integer',
    min: 100,
    max: 300_000,
    fallback: '10000',
    meaning: 'Milliseconds that a stop waits for requests and sends in flight.',
  },
  {
    name: 'SHUTDOWN_DRAIN_MS',
    section: 'Process',
    type: 'integer',
    min: 0,
    max: 60_000,
    fallback: null,
    meaning:
      'Milliseconds for which a process with the role api that was told to stop still takes requests while /health/ready answers 503, so that balancers look elsewhere first; at most three tenths of SHUTDOWN_TIMEOUT_MS. Default: 2000 in production, else 0.',
  },
  {
    name: 'LOG_LEVEL',
    section: 'Process',
    type: 'string',
    fallback: 'info',
    oneOf: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    meaning: 'Least level that is logged.',
  },
  {
    name: 'LOG_FORMAT',
    section: 'Process',
    type: 'string',
    fallback: null,
    oneOf: ['pretty', 'json'],
    meaning: 'pretty or json. Default: pretty on a terminal, else json.',
  },
  {
    name: 'LOG_ADDRESSES',
    section: 'Process',
    type: 'boolean',
    fallback: 'true',
    meaning: "Log the caller's address with each request; false where addresses may not be kept.",
  },
  {
    name: 'DEMO',
    section: 'Process',
    type: 'boolean',
    fallback: null,
    meaning:
      'Make the demo workspace and write DATA_DIR/demo.json. Default: true with the embedded database, never in production.',
  },
  {
    name: 'API_DOCS',
    section: 'Process',
    type: 'boolean',
    fallback: null,
    meaning:
      'Serve Swagger UI under /docs and the description under /openapi.json and /openapi.yaml. Default: true, in production false. /docs/errors is always there.',
  },
];
