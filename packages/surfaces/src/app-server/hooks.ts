// Hooks that have run, as clients see them: started and completed at once, because the log records them when they end.
import type { NoteData } from "@agentcli/protocol";
import type { HookRunSummary } from "@agentcli/protocol/app-server";
import type { Notice } from "./notice.ts";
import type { ShownThread } from "./thread.ts";

type HookRun = Extract<NoteData<"hook">, { status: unknown }>;

interface StoredNote<Data> {
  seq: number;
  data: Data;
  atMs: number;
}

/** Notes about the turn rather than about one hook show nothing. */
export function hookNotices(
  { threadId, turn }: ShownThread,
  { seq, data, atMs }: StoredNote<NoteData<"hook">>,
): Notice[] {
  if (!("status" in data)) return [];
  const run = summaryOf({ seq, data, atMs });
  const running: HookRunSummary = { ...run, status: "running", completedAt: null, durationMs: null, entries: [] };
  const ids = { threadId, turnId: turn?.id ?? null };
  return [
    { method: "hook/started", params: { ...ids, run: running } },
    { method: "hook/completed", params: { ...ids, run } },
  ];
}

function summaryOf({ seq, data, atMs }: StoredNote<HookRun>): HookRunSummary {
  const { event, source, key, status, reason, context, halt, durationMs } = data;
  return {
    id: `hook-${seq}`,
    eventName: camel(event),
    handlerType: "command",
    executionMode: "sync",
    scope: "turn",
    sourcePath: key.split(":")[0] ?? "",
    source: source === "managed" ? "system" : source,
    displayOrder: 0,
    status: halt === undefined ? statusOf(status) : "stopped",
    statusMessage: reason || null,
    startedAt: atMs - durationMs,
    completedAt: atMs,
    durationMs,
    entries: [
      ...(context === undefined ? [] : [{ kind: "context" as const, text: context }]),
      ...(halt === undefined ? [] : [{ kind: "stop" as const, text: halt }]),
      ...(reason ? [{ kind: kindOf(status), text: reason }] : []),
    ],
  };
}

const camel = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1);

/** A skipped hook is not a failure. */
const statusOf = (status: HookRun["status"]): HookRunSummary["status"] =>
  status === "blocked" || status === "failed" ? status : "completed";

const kindOf = (status: HookRun["status"]): HookRunSummary["entries"][number]["kind"] => {
  if (status === "failed") return "error";
  return status === "blocked" ? "feedback" : "warning";
};
