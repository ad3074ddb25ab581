// Hooks that have run, as clients are told: begun and ended at once, because the log knows them when they are over.
import type { RecordOf } from "@agentcli/protocol";
import type { HookRunSummary } from "@agentcli/protocol/app-server";
import type { Notice } from "./notice.ts";
import type { Shown } from "./thread.ts";

type HookNote = RecordOf<"noted">["data"];

/** Some notes only say that hooks have been asked. */
export function hookNotices({ threadId, turn }: Shown, seq: number, data: HookNote, atMs: number): Notice[] {
  if (typeof data.status !== "string") return [];
  const run = summaryOf(seq, data, atMs);
  const running: HookRunSummary = { ...run, status: "running", completedAt: null, durationMs: null, entries: [] };
  const place = { threadId, turnId: turn?.id ?? null };
  return [
    { method: "hook/started", params: { ...place, run: running } },
    { method: "hook/completed", params: { ...place, run } },
  ];
}

function summaryOf(seq: number, data: HookNote, atMs: number): HookRunSummary {
  const { event, source, key, status, reason, context, halt } = data;
  const durationMs = Number(data.durationMs ?? 0);
  return {
    id: `hook-${seq}`,
    eventName: camel(String(event)),
    handlerType: "command",
    executionMode: "sync",
    scope: "turn",
    sourcePath: String(key).split(":")[0] ?? "",
    source: source === "managed" ? "system" : source === "user" ? "user" : "project",
    displayOrder: 0,
    status: halt === undefined ? statusOf(String(status)) : "stopped",
    statusMessage: reason ? String(reason) : null,
    startedAt: atMs - durationMs,
    completedAt: atMs,
    durationMs,
    entries: [
      ...(typeof context === "string" ? [{ kind: "context" as const, text: context }] : []),
      ...(typeof halt === "string" ? [{ kind: "stop" as const, text: halt }] : []),
      ...(reason ? [{ kind: kindOf(String(status)), text: String(reason) }] : []),
    ],
  };
}

const camel = (name: string): string => name.slice(0, 1).toLowerCase() + name.slice(1);

/** One that was passed over has nothing to say that would be a failure. */
const statusOf = (status: string): HookRunSummary["status"] =>
  status === "blocked" || status === "failed" ? status : "completed";

const kindOf = (status: string): HookRunSummary["entries"][number]["kind"] => {
  if (status === "failed") return "error";
  return status === "blocked" ? "feedback" : "warning";
};
