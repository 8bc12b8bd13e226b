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

/** What can be left out, and is so then. */
export const DEFAULT_OPTIONS = {
  /** Names under which it may be called, besides addresses and `localhost`. */
  hostNames: [] as readonly string[],
  /** Where links to it lead, such as those of files: the address of a proxy in front of it. Null: where the caller reached it. */
  publicUrl: null as string | null,
  /** Between sent, delivered and read. */
  statusGapMs: 150,
  /** How many taken messages are remembered, in memory and on disk. */
  keepMessages: 1_000_000,
  /** Fail non-template messages to people who have not written within 24 h (131047). */
  enforceWindow: false,
  /** What `to` without `+` is. */
  bareNumbers: 'country' as BareNumbers,
  /** How long recipient 0007 waits for its answer. */
  slowAnswerMs: 60_000,
  /** How long recipient 0010 refuses a second message. */
  pairLimitMs: 6_000,
  /** First pause before a notification that was not acknowledged is posted again; it doubles up to 60 s. */
  retryBaseMs: 1_000,
  /** Statuses and messages that may wait for the webhook; beyond it the oldest are dropped. */
  maxPendingNotifications: 500_000,
  /** How long the address of a file can be used. */
  mediaAddressMs: 300_000,
  /** How long the review of a template takes; null waits for a control call. */
  templateReviewMs: 300 as number | null,
  /** Templates an account may have, every language counted. */
  templatesPerAccount: 6_000,
  /** Templates an account may create in an hour. */
  templateCreationsPerHour: 100,
  log: (_line: string): void => undefined,
};

export interface SimulatorOptions extends Partial<typeof DEFAULT_OPTIONS> {
  /** 0 takes any free port. */
  port: number;
  host: string;
  /** Folder for what must survive a restart; null keeps everything in memory. */
  dataDir: string | null;
  /** Ids are a function of this and a counter: the same seed gives the same ids in the same order. */
  seed: string;
  /** Where notifications go. While null they wait. */
  webhookUrl: string | null;
  /** Key of `X-Hub-Signature-256`. */
  appSecret: string;
  /** Accepted bearer tokens; null accepts any that is not empty. */
  accessTokens: string[] | null;
  numbers: SimulatorNumber[];
}

export type AllOptions = SimulatorOptions & typeof DEFAULT_OPTIONS;
