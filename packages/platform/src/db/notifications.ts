// LISTEN and NOTIFY as a port: messages between servers that share a database. They wake; the truth is in the tables.

export interface Notifications {
  /** Resolves once listening. `onGap` is called after the connection was lost and is back: messages may be missing. */
  subscribe(channel: string, listener: Listener): Promise<() => void>;
}

export interface Listener {
  onMessage(payload: string): void;
  onGap(): void;
}
