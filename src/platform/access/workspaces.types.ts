/** A workspace: whoever owns keys, numbers and messages. */
export interface Workspace {
  id: string;
  name: string;
  /** Null: never paid. */
  apiPaidUntil: Date | null;
  /** Null: the service's default. */
  ratePerSecond: number | null;
  /** Null: the service's default. */
  rateBurst: number | null;
  createdAt: Date;
}
