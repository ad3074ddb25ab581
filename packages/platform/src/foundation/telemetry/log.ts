// Structured logs: one JSON object per line. Nothing that a person wrote may be given to them.

/** Ids, counts and codes; never texts of users. */
export type Facts = Record<string, string | number | boolean | null | undefined>;

export interface Log {
  info(event: string, facts?: Facts): void;
  warn(event: string, facts?: Facts): void;
  /** With the stack of the error, which must not be shown to the client. */
  error(event: string, error: unknown, facts?: Facts): void;
}

export interface LogOptions {
  write(line: string): void;
  now(): Date;
}

export function openLog({ write, now }: LogOptions): Log {
  const writeLine = (level: string, event: string, facts: Facts) =>
    write(`${JSON.stringify({ at: now().toISOString(), level, event, ...facts })}\n`);
  return {
    info: (event, facts = {}) => writeLine("info", event, facts),
    warn: (event, facts = {}) => writeLine("warn", event, facts),
    error: (event, error, facts = {}) => writeLine("error", event, { ...facts, ...describe(error) }),
  };
}

/** For commands, which print for people and write no log. */
export const silentLog: Log = { info() {}, warn() {}, error() {} };

function describe(error: unknown): Facts {
  if (!(error instanceof Error)) return { error: String(error) };
  const cause = error.cause instanceof Error ? error.cause.message : undefined;
  return { error: error.message, name: error.name, stack: error.stack, cause };
}
