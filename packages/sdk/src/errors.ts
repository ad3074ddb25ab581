// Errors of a turn, with how the program ended.
import type { ExecEvent } from "@agentcli/protocol";

/** not-started: no process was started. failed: the turn failed. exited: the program ended before its turn did. */
export type TurnErrorKind = "not-started" | "failed" | "exited" | "unreadable";

export interface TurnEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** The end of standard error. */
  stderrTail: string;
  lastEvent: ExecEvent | null;
}

export class TurnError extends Error implements TurnEnd {
  readonly kind: TurnErrorKind;
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stderrTail: string;
  readonly lastEvent: ExecEvent | null;

  constructor(kind: TurnErrorKind, message: string, end: Partial<TurnEnd> = {}, cause?: unknown) {
    super(message, cause === undefined ? {} : { cause });
    this.name = "TurnError";
    this.kind = kind;
    this.exitCode = end.exitCode ?? null;
    this.signal = end.signal ?? null;
    this.stderrTail = end.stderrTail ?? "";
    this.lastEvent = end.lastEvent ?? null;
  }
}

/** Like the error of Node's own functions: `name` is AbortError, `code` is ABORT_ERR, `cause` is the reason. */
export class AbortError extends Error {
  readonly code = "ABORT_ERR";

  constructor(reason: unknown) {
    super("The turn was aborted.", { cause: reason });
    this.name = "AbortError";
  }
}
