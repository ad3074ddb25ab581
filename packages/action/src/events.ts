// The events of `agentcli exec --json`, as far as the action shows and publishes them.

export interface RunResult {
  threadId: string;
  finalMessage: string;
  usage: Record<string, unknown>;
  /** Decimal, in USD; null where a price is unknown. */
  costUsd: string | null;
  failure: string;
  commands: number;
  changedFiles: Set<string>;
  exitCode: number;
}

export const emptyResult = (): RunResult => ({
  ...{ threadId: "", finalMessage: "", usage: {}, costUsd: null, failure: "", commands: 0 },
  ...{ changedFiles: new Set<string>(), exitCode: 0 },
});

export interface ExecEvent {
  type?: string;
  text?: string;
  thread_id?: string;
  usage?: Record<string, unknown>;
  cost_usd?: string | null;
  message?: string;
  error?: { message?: string };
  item?: ExecItem;
}

interface ExecItem {
  type?: string;
  text?: string;
  message?: string;
  command?: string;
  status?: string;
  exit_code?: number | null;
  changes?: { path?: string; kind?: string }[];
}

/** Adds the event to the result; returns what the log of the workflow shows of it. */
export function readEvent(event: ExecEvent, result: RunResult): string {
  switch (event.type) {
    case "thread.started":
      result.threadId = event.thread_id ?? "";
      return `thread ${result.threadId}`;
    case "turn.completed":
      result.usage = event.usage ?? {};
      result.costUsd = event.cost_usd ?? null;
      return "";
    case "turn.failed":
    case "error":
      result.failure = event.error?.message ?? event.message ?? "";
      return `error: ${result.failure}`;
    case "item.completed":
      return readItem(event.item ?? {}, result);
    default:
      return event.type === "text" ? (event.text ?? "") : "";
  }
}

function readItem(item: ExecItem, result: RunResult): string {
  switch (item.type) {
    case "agent_message":
      result.finalMessage = item.text ?? "";
      return result.finalMessage;
    case "command_execution":
      result.commands += 1;
      return `$ ${item.command} (${item.status}${item.exit_code ? `, exit ${item.exit_code}` : ""})`;
    case "file_change":
      for (const { path = "" } of item.changes ?? []) result.changedFiles.add(path);
      return (item.changes ?? []).map(({ kind, path }) => `${kind} ${path}`).join("\n");
    case "error":
      return `warning: ${item.message}`;
    default:
      return "";
  }
}
