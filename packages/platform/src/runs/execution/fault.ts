// Errors of a run, and whether they end it.
import { StaleWriter } from "@agentcli/engine";
import { isDatabaseAway, isStorageFull, storageFullMessage } from "../../foundation/index.ts";
import type { RunEnd } from "./finish.ts";

/** Ends a run for a reason that its owner can act on. */
export class RunFault extends Error {
  override name = "RunFault";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Errors whose message is written for the owner of the run; all others are reported as internal. */
export const isUserFacingError = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && /Fault$|^SandboxUnavailable$/.test(error.name);

/** This process has lost its claim on the run (another one has it, or the agent was deleted), or the database is away. The next claim resumes the run. */
export const leavesRunOpen = (error: unknown): boolean => error instanceof StaleWriter || isDatabaseAway(error);

const internalError = "Internal error. Try again; if it persists, give an administrator the run id.";

/** CANCELLED if the run was aborted: errors are expected then. */
export function endAfterError(error: unknown, signal: AbortSignal): RunEnd {
  if (signal.aborted) return { branches: [], status: "CANCELLED" };
  if (isStorageFull(error))
    return { branches: [], status: "ERROR", error: { code: "storage_full", message: storageFullMessage } };
  const { code, message } = isUserFacingError(error)
    ? { code: error.code ?? "sandbox", message: error.message }
    : { code: "internal", message: internalError };
  return { branches: [], status: "ERROR", error: { code, message } };
}
