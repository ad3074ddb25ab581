// Errors of a workspace that runs end with. No zod here: every start of the program reads it.
import type { ExitName } from "./exit-codes.ts";

/** The requested sandbox is unavailable. Nothing runs without it. */
export class SandboxUnavailable extends Error {
  override name = "SandboxUnavailable";
  /** Exit code of a program that ends with this error. */
  readonly exit: ExitName = "sandbox";
  readonly reason: string;
  readonly remedy: string;

  constructor(reason: string, remedy: string) {
    super(`${reason} ${remedy}`);
    this.reason = reason;
    this.remedy = remedy;
  }
}

/** The workspace is gone, with its processes and its private /tmp. Thrown to every running operation. */
export class WorkspaceLost extends Error {
  override name = "WorkspaceLost";

  constructor(reason: string) {
    super(`The workspace was lost: ${reason}`);
  }
}

/** A commit that could not be imported at the end of a turn. */
export class CommitLost extends Error {
  override name = "CommitLost";
}
