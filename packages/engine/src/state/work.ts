// What a thread is in the middle of: its plan, the files it changed and its questions without an answer.
import type { Outcome, PlanStep, RecordOf } from "@agentcli/protocol";

export interface WorkState {
  plan: PlanStep[];
  changedFiles: Set<string>;
  /** Questions to the user since their last message that were not answered. */
  openQuestions: string[];
}

export const newWork = (): WorkState => ({ plan: [], changedFiles: new Set(), openQuestions: [] });

export function noteWork(
  work: WorkState,
  begun: Pick<RecordOf<"tool.begun">, "name" | "args"> | null,
  { detail, status }: Outcome,
): void {
  if (detail.kind === "plan") work.plan = detail.steps;
  if (detail.kind === "patch") {
    for (const { path, movedTo } of detail.changes) work.changedFiles.add(movedTo ?? path);
  }
  if (begun?.name === "request_user_input" && status !== "completed") {
    const { questions = [] } = begun.args as { questions?: { question: string }[] };
    work.openQuestions.push(...questions.map(({ question }) => question));
  }
}
