// A run on a terminal: text that stays, and a live region below it that is drawn again at every change.
import { isEditTool, type Progress, type Scrub, type StoredRecord } from "@agentcli/engine";
import type { ExecEvent, PlanStep } from "@agentcli/protocol";
import { grouped, humanText, type Paint } from "../human.ts";
import { isReading } from "../items.ts";
import { trackActivity } from "./activity.ts";
import { fit } from "./columns.ts";
import { patchDiff } from "./patch.ts";
import { readingLine } from "./reading.ts";

export interface TerminalOptions {
  paint: Paint;
  version: string;
  scrub: Scrub;
  /** The session is stored, so that it can be resumed. */
  isResumable: boolean;
  nowMs(): number;
  size(): TerminalSize;
}

export interface TerminalSize {
  columns: number;
  rows: number;
}

export interface TerminalView {
  /** Text that stays; empty if the record shows nothing. */
  show(stored: StoredRecord): string;
  progress(progress: Progress): void;
  /** A record of a sub-agent. */
  agentRecord(stored: StoredRecord): void;
  /** What is under way; null when nothing is, or the terminal is too small to show it. */
  live(): LiveProgress | null;
}

export interface LiveProgress {
  elapsedMs: number;
  /** What has been used. */
  used: string;
  doing: string;
  /** The last lines of the command that is running. */
  output: string[];
}

export function terminalView(options: TerminalOptions): TerminalView {
  const { paint, version, scrub } = options;
  const activity = trackActivity(scrub);
  const details = openDetails(options);
  const text = humanText(paint, version, details.show);
  let startedMs = options.nowMs();
  return {
    show(stored) {
      if (stored.record.type === "turn.begun") startedMs = options.nowMs();
      activity.record(stored);
      details.record(stored);
      return text(stored) + details.after(stored);
    },
    progress: activity.progress,
    agentRecord: activity.agentRecord,
    live() {
      const { columns, rows } = options.size();
      const current = activity.current();
      if (!current || columns < minColumns || rows < minRows) return null;
      const output = current.output.filter((line) => line.trim() !== "").slice(-Math.min(maxOutputLines, rows - 2));
      const elapsedMs = options.nowMs() - startedMs;
      return { elapsedMs, used: `${grouped(current.tokens)} tokens`, doing: current.doing, output };
    },
  };
}

const minColumns = 20;
const minRows = 4;
const maxOutputLines = 5;

/** What a terminal shows differently from a log: reads, diffs, the current step of the plan, how to go on. */
function openDetails({ paint, isResumable, size }: TerminalOptions) {
  const patches = new Map<string, { name: string; args: unknown }>();
  let settling: string | null = null;
  let plan: PlanStep[] = [];
  let threadId = "";
  return {
    record({ record }: StoredRecord): void {
      settling = record.type === "tool.settled" ? record.callId : null;
      if (record.type === "thread.created") threadId = record.threadId;
      if (record.type === "tool.begun" && isEditTool(record.name)) patches.set(record.callId, record);
      if (record.type === "tool.settled" && record.outcome.detail.kind === "plan") plan = record.outcome.detail.steps;
    },
    show(event: ExecEvent): string | null {
      if (event.type === "item.started" || event.type === "item.updated")
        return event.item.type === "todo_list" ? showPlan(plan, paint) : null;
      if (event.type !== "item.completed") return null;
      const { item } = event;
      if (item.type === "mcp_tool_call" && isReading(item))
        return `${paint.dim(fit(readingLine(item), size().columns - 1))}\n`;
      if (item.type !== "file_change" || item.status !== "completed" || settling === null) return null;
      const diff = patchDiff(patches.get(settling), paint);
      return diff && `${paint.bold("apply patch")}\n${diff}`;
    },
    after: ({ record }: StoredRecord): string =>
      record.type === "turn.ended" && isResumable
        ? `${paint.dim(`To go on: agentcli exec resume ${threadId} "…"`)}\n`
        : "",
  };
}

function showPlan(steps: PlanStep[], paint: Paint): string {
  const line = ({ step, status }: PlanStep) => {
    if (status === "completed") return `${paint.good("✓")} ${step}`;
    return status === "in_progress" ? paint.bold(`→ ${step}`) : `• ${step}`;
  };
  return `${paint.bold("plan")}\n${steps.map((step) => `  ${line(step)}\n`).join("")}`;
}
