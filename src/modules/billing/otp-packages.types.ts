/** What a project may send to one country each month. */
export interface OtpAllowance {
  /** ISO 3166 alpha-2. */
  country: string;
  monthlyLimit: number;
}

/** What a project has sent to one country in one month. */
export interface OtpPackage extends OtpAllowance {
  id: string;
  /** `2026-11`, UTC. */
  month: string;
  /** Accepted and not sent yet. */
  reserved: number;
  used: number;
}

/** The outcome of a reserved send. */
export interface OtpPackageMove {
  packageId: string;
  /** `use`: it was sent. `give_back`: it was certainly not delivered, and does not count. */
  move: 'use' | 'give_back';
  /** With `give_back`: whether it counted as used already. */
  wasUsed: boolean;
}
