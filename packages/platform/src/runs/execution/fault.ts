// Errors of a run, and whether they end it.
import { StaleWriter } from "@agentcli/engine";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";
import { WaitExpiredFault } from "../../fleet/index.ts";
import { Fault, isDatabaseAway, isStorageFull, KeyServiceFault, storageFullMessage } from "../../foundation/index.ts";
import type { RunEnd } from "./finish.ts";

/** Ends a run for a reason that its owner can act on. */
export class RunFault extends Fault {
  override name = "RunFault";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

/** Errors whose message is written for the owner of the run; all others are reported as internal. */
export const isUserFacingError = (error: unknown): error is Fault | SandboxUnavailable =>
  error instanceof Fault || error instanceof SandboxUnavailable;

/**
 * This process has lost its claim on the run (another one has it, or the agent was deleted), or what it needs to write is away:
 * the database, or the service that has its key. The next claim resumes the run.
 */
export const leavesRunOpen = (error: unknown): boolean =>
  error instanceof StaleWriter || error instanceof KeyServiceFault || isDatabaseAway(error);

const internalError = "Internal error. Try again; if it persists, give an administrator the run id.";

/** CANCELLED if the run was aborted: errors are expected then. */
export function endAfterError(error: unknown, signal: AbortSignal): RunEnd {
  if (signal.aborted) return { branches: [], status: "CANCELLED" };
  if (isStorageFull(error))
    return { branches: [], status: "ERROR", error: { code: "storage_full", message: storageFullMessage } };
  const { code, message } = isUserFacingError(error)
    ? { code: error instanceof Fault ? error.code : "sandbox", message: error.message }
    : { code: "internal", message: internalError };
  return { branches: [], status: error instanceof WaitExpiredFault ? "EXPIRED" : "ERROR", error: { code, message } };
}
