// The plan of a turn: what is done, what is being done, what follows.
import type { NoticeOf } from "@agentcli/protocol/app-server";
import { cutLine, type Line, span, visible } from "../text/index.ts";

export type PlanStep = NoticeOf<"turn/plan/updated">["plan"][number];

const maxRows = 10;

/** A long plan is shown from the step before the current one on. */
export function planRows(plan: PlanStep[], columns: number): Line[] {
  const current = plan.findIndex(({ status }) => status !== "completed");
  const from = plan.length <= maxRows ? 0 : Math.max(0, Math.min(plan.length - maxRows, current - 1));
  const done = plan.filter(({ status }) => status === "completed").length;
  const head: Line = [
    span("☰ ", { color: "blue", bold: true }),
    span("Plan", { bold: true }),
    span(` ${done}/${plan.length}`, { dim: true }),
  ];
  return [head, ...plan.slice(from, from + maxRows).map((step) => cutLine(stepLine(step), columns - 1))];
}

function stepLine({ step, status }: PlanStep): Line {
  const text = visible(step).replace(/\n+/g, " ");
  if (status === "completed") return [span("  ✓ ", { color: "green" }), span(text, { dim: true, strike: true })];
  return status === "inProgress"
    ? [span("  → ", { color: "cyan", bold: true }), span(text, { bold: true })]
    : [span("  • ", { dim: true }), span(text)];
}
