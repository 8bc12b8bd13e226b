import type { Role } from './setting.js';

/** The validated settings of this process, in typed sections. Injected by class. */
export abstract class Config {
  abstract readonly process: {
    environment: 'development' | 'test' | 'production';
    production: boolean;
    roles: readonly Role[];
    host: string;
    port: number;
    /** Without a trailing slash; null: made from host and port once the server listens. */
    publicUrl: string | null;
    /** When addresses without a version end; null: they stay. */
    aliasSunset: Date | null;
    dataDir: string;
    shutdownTimeoutMs: number;
    shutdownDrainMs: number;
    logLevel: string;
    logFormat: 'pretty' | 'json';
    /** Whether the line of a request names its caller's address. */
    logsAddress: boolean;
    demo: boolean;
    /** Whether /docs and the API description are served. */
    docs: boolean;
  };
  abstract readonly database: {
    /** null: start the embedded server. */
    url: string | null;
    poolSize: number;
    queryTimeoutMs: number;
    connectTimeoutMs: number;
    migrate: boolean;
  };
  abstract readonly queue: {
    redisUrl: string | null;
    redisCluster: boolean;
    prefix: string;
    poolSize: number;
    concurrency: number;
    maxInFlight: number;
  };
  abstract readonly whatsapp: {
    /** null: the simulator of this process. */
    apiUrl: string | null;
    apiVersion: string;
    /** Any of these may have signed a notification; the simulator signs with the first. */
    appSecrets: readonly string[];
    verifyToken: string;
    timeoutMs: number;
    simulatorHost: string;
    simulatorPort: number;
    simulatorSeed: string;
  };
  abstract readonly webhook: {
    /** Development only: private addresses, plain HTTP and any port are good webhook targets. */
    allowPrivateTargets: boolean;
    maxInFlight: number;
    /** Events that may wait for one endpoint that fails or rests. */
    maxWaiting: number;
  };
  abstract readonly media: {
    /** Folder of the files. */
    dir: string;
    /** Bytes that uploads leave free on its disk. */
    minFreeBytes: number;
    /** Of stored files, where a workspace has no limit of its own; null: none. */
    workspaceLimitBytes: number | null;
    /** Of a file that a customer sends; larger ones are not fetched. */
    maxInboundBytes: number;
  };
  abstract readonly security: {
    encryptionKeys: readonly EncryptionKey[];
    /** Which of them encrypts; null: the highest version. Ask `sealingVersion`. */
    encryptionKeyVersion: number | null;
    trustProxy: boolean | number | string;
    authFailuresPerMinute: number;
    /** null: only this machine may read the metrics, in production nobody. */
    metricsToken: string | null;
  };
  /** Days; 0: for ever. */
  abstract readonly retention: {
    messageContentDays: number;
    receivedMediaDays: number;
    uploadedMediaDays: number;
    attemptDays: number;
    webhookDays: number;
    notificationDays: number;
    otpDays: number;
  };
  abstract readonly limits: {
    ratePerSecond: number;
    rateBurst: number;
    backlog: number;
    messageTtlHours: number;
    /** Of a claimed message: without an outcome by then it is `outcome_unknown`. */
    sendLeaseMs: number;
    /** Of one key, besides its own limit; for all keys of a project three times as many. */
    otpSendsPerSecond: number;
    otpVerifiesPerSecond: number;
    /** HTTP connections that one address may have open; 0: any number. */
    connectionsPerAddress: number;
    /** Of the event loop, mean; 0: never refuse for it. */
    overloadLoopDelayMs: number;
    /** Statements that wait for a connection; 0: never refuse for them. */
    overloadPoolWaiting: number;
  };
}

/** The same settings with some sections exchanged. */
export function changedConfig(config: Config, sections: Partial<Config>): Config {
  return Object.assign({}, config, sections);
}

export interface EncryptionKey {
  version: number;
  /** 32 bytes. */
  key: Buffer;
}
