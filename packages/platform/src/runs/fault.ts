// What can go wrong with a run, and what that means for it.
import { StaleWriter } from "@agentcli/engine";
import { isDatabaseAway } from "../db/index.ts";
import type { RunEnd } from "./finish.ts";

/** What ends a run for a reason that its owner can do something about. */
export class RunFault extends Error {
  override name = "RunFault";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const isFault = (error: unknown): error is Error & { code: string } =>
  error instanceof Error && /Fault$|^SandboxUnavailable$/.test(error.name);

/**
 * Not the end of the run: somebody else has it, or the database is away. Whoever claims it next goes on with what is
 * written down.
 */
export const leavesItOpen = (error: unknown): boolean => error instanceof StaleWriter || isDatabaseAway(error);

export function failed(error: unknown, signal: AbortSignal): RunEnd {
  if (signal.aborted) return { branches: [], status: "CANCELLED" };
  const { code, message } = isFault(error)
    ? { code: error.code ?? "sandbox", message: error.message }
    : { code: "internal", message: "The run failed inside the platform." };
  return { branches: [], status: "ERROR", error: { code, message } };
}
