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
  /** Of its stored files; null: the service's default. */
  storageLimitBytes: number | null;
  createdAt: Date;
}

/** What a workspace uses, and the limits that hold for it. */
export interface WorkspaceUse {
  storageUsedBytes: number;
  /** Its own limits, or the service's. */
  effective: {
    ratePerSecond: number;
    rateBurst: number;
    /** Null: none. */
    storageLimitBytes: number | null;
  };
}
