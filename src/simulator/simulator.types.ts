/** One business phone number that the simulated platform hosts. */
export interface SimulatorNumber {
  /** Decimal id, 15 to 17 digits, such as `106540352242922`. */
  phoneNumberId: string;
  /** Id of the WhatsApp Business Account that owns the number. */
  wabaId: string;
  /** As people write it, with `+` and spaces. Its country code is what a recipient without `+` gets prepended. */
  displayPhoneNumber: string;
  verifiedName: string;
}

/** What a number without `+` is: one of the sender's own country, or already international. */
export type BareNumbers = (typeof BARE_NUMBERS)[number];
export const BARE_NUMBERS = ['country', 'as-is'] as const;

export interface SimulatorOptions {
  /** 0 takes any free port. */
  port: number;
  host: string;
  /** Names under which it may be called, besides addresses and `localhost`. */
  hostNames?: readonly string[];
  /** Folder for what must survive a restart; null keeps everything in memory. */
  dataDir: string | null;
  /** Ids are a function of this and a counter: the same seed gives the same ids in the same order. */
  seed: string;
  /** Where notifications go. While null they wait (see {@link maxPendingNotifications}). */
  webhookUrl: string | null;
  /** Key of `X-Hub-Signature-256`. */
  appSecret: string;
  /** Accepted bearer tokens; null accepts any that is not empty. */
  accessTokens: string[] | null;
  numbers: SimulatorNumber[];
  /** Between sent, delivered and read. Default 150. */
  statusGapMs?: number;
  /** How many taken messages are remembered, in memory and on disk. Default 1,000,000. */
  keepMessages?: number;
  /** Fail non-template messages to people who have not written within 24 h (131047). Default false. */
  enforceWindow?: boolean;
  /** What `to` without `+` is. Default `country`: a number of the sender's own country. */
  bareNumbers?: BareNumbers;
  /** How long recipient 0007 waits for its answer. Default 60,000. */
  slowAnswerMs?: number;
  /** How long recipient 0010 refuses a second message. Default 6,000. */
  pairLimitMs?: number;
  /** First pause before a notification that was not acknowledged is posted again; it doubles up to 60 s. Default 1,000. */
  retryBaseMs?: number;
  /** Statuses and messages that may wait for the webhook; beyond it the oldest are dropped. Default 500,000. */
  maxPendingNotifications?: number;
  /** How long the address of a file can be used. Default 300,000. */
  mediaAddressMs?: number;
  /** How long the review of a template takes; null waits for a control call. Default 300. */
  templateReviewMs?: number | null;
  /** Templates an account may have, every language counted. Default 6,000. */
  templatesPerAccount?: number;
  /** Templates an account may create in an hour. Default 100. */
  templateCreationsPerHour?: number;
  log?: (line: string) => void;
}

/** `off` drops statuses for good, `hold` keeps them until `on`. */
export type StatusMode = 'on' | 'off' | 'hold';

export type DownloadFailure = 'not_found' | 'server_error' | 'cut';

/** Faults that the control calls switch on and off. */
export interface Faults {
  /** Fraction of writes whose answer is cut off after they took effect, 0..1. */
  dropAnswers: number;
  /** Fraction of sends whose answer is broken in one of eight ways, half of them after the message was taken, 0..1. */
  brokenAnswers: number;
  /** Added before every answer of the Graph API. */
  latencyMs: number;
  /** Fraction of writes refused with 500 before they take effect, 0..1. */
  errorRate: number;
  statuses: StatusMode;
  /** Calls of the Graph API and downloads are cut before they take effect, without a byte of an answer. */
  down: boolean;
  /** So many of the next calls that are no messages are refused before they take effect. */
  refusals: number;
  /** With which code of the platform's. */
  refusalCode: number;
  /** So many of the next downloads fail. */
  downloadFailures: number;
  /** How they fail: 404, 500, or cut half-way. */
  downloadFailure: DownloadFailure;
  /** So many of the next downloads bring bytes that don't match the checksum. */
  downloadWrongBytes: number;
  /** Added before every download. */
  downloadLatencyMs: number;
  /** 0: as fast as it goes. */
  downloadBytesPerSecond: number;
  /** So many of the next uploads are answered 500 after they were sent. */
  uploadFailures: number;
}

/** How it is before any control call, and after a reset. */
export const NO_FAULTS: Readonly<Faults> = {
  dropAnswers: 0,
  brokenAnswers: 0,
  latencyMs: 0,
  errorRate: 0,
  statuses: 'on',
  down: false,
  refusals: 0,
  refusalCode: 80007,
  downloadFailures: 0,
  downloadFailure: 'not_found',
  downloadWrongBytes: 0,
  downloadLatencyMs: 0,
  downloadBytesPerSecond: 0,
  uploadFailures: 0,
};
