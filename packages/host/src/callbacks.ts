// What a run reports to its program while it works, and asks of it.
import type { Approver, Progress, SubagentObserver } from "@agentcli/engine";
import type { McpHost } from "@agentcli/mcp";
import type { Reporter } from "./program.ts";

export interface RunCallbacks {
  onProgress(progress: Progress): void;
  /** Answers requests for approval and questions of the model; if absent, approvals are declined. */
  approver?: Approver | undefined;
  /** Answers questions of MCP servers; if absent they are declined. */
  elicit?: McpHost["elicit"] | undefined;
  /** Reports to a user what is found when no turn is open. */
  warn?: ((message: string) => void) | undefined;
  /** Follows a sub-agent. */
  watch?: ((childId: string) => SubagentObserver) | undefined;
}

/**
 * A reporter follows the main thread; no client can be asked. Sub-agents have call ids of their own: only their records
 * are passed on.
 */
export function callbacksFor(reporter: Pick<Reporter, "onProgress" | "onAgentRecord" | "log">): RunCallbacks {
  const { onProgress, onAgentRecord = () => {} } = reporter;
  const warn = (message: string) => reporter.log(`warning: ${message}`);
  return onProgress
    ? { onProgress, warn, watch: () => ({ emit: onAgentRecord, onProgress() {} }) }
    : { onProgress() {}, warn };
}
