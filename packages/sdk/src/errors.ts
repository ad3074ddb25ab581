// How a turn can end badly, with what is known about the end.
import type { ExecEvent } from "@agentcli/protocol";

/** not-started: no process came to be. failed: the turn says why. exited: the program ended without an end of its turn. */
export type TurnErrorKind = "not-started" | "failed" | "exited" | "unreadable";

export interface TurnEnd {
  exitCode: number | null;
  signal: NodeJS.Signals | null;
  /** The last that the program wrote to standard error. */
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

/** As Node's own functions throw it: `name` is AbortError, `code` is ABORT_ERR, the reason is the cause. */
export class AbortError extends Error {
  readonly code = "ABORT_ERR";

  constructor(reason: unknown) {
    super("The turn was aborted.", { cause: reason });
    this.name = "AbortError";
  }
}
