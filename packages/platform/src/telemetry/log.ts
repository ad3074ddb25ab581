// Structured logs: one JSON object per line. Nothing that a person wrote may be given to them.

/** Ids, counts and codes; never texts of users. */
export type Facts = Record<string, string | number | boolean | null | undefined>;

export interface Log {
  info(event: string, facts?: Facts): void;
  warn(event: string, facts?: Facts): void;
  /** With the stack of the error, which must not be shown to whoever asked. */
  error(event: string, error: unknown, facts?: Facts): void;
}
