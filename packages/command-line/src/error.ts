// Errors that end a program with an exit code of their own and a message instead of a stack trace.
import { type ExitName, exitCodes } from "@agentcli/protocol/exit-codes";

/** An error that the user can fix. */
export class CommandError extends Error {
  override name = "CommandError";
  readonly exit: ExitName;

  constructor(exit: ExitName, message: string, options?: ErrorOptions) {
    super(message, options);
    this.exit = exit;
  }
}

/** Any error may carry `exit`: packages that know nothing of command lines declare it on their own classes. */
export function exitNameOf(error: unknown): ExitName | null {
  if (!(error instanceof Error) || !("exit" in error)) return null;
  const { exit } = error;
  return typeof exit === "string" && Object.hasOwn(exitCodes, exit) ? (exit as ExitName) : null;
}
