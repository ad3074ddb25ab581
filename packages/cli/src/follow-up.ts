// How a thread goes on: the records that begin another turn, with what has changed around it since the last.
import { environmentMessage, permissionsMessage, type ThreadState } from "@agentcli/engine";
import type { ContextMessage, Part, RecordOf, Tags, ThreadRecord, TurnSettings } from "@agentcli/protocol";
import { changedTools } from "./mcp/join.ts";
import type { Recorded, Run } from "./run.ts";
import { recordedTags } from "./sessions/tags.ts";

/** What a turn begins with besides what the run knows. */
export interface FollowUp extends Pick<RecordOf<"turn.begun">, "context" | "review" | "clientId" | "compaction"> {
  turnId: string;
  input: Part[];
  tags: Tags;
}

export const recordedIn = (state: ThreadState): Recorded => ({
  settings: state.settings,
  hooks: state.frozen.hooks ?? [],
});

export function followUpRecord({ tags, context = [], ...turn }: FollowUp, state: ThreadState, run: Run): ThreadRecord {
  const { settings } = run;
  const called = run.context.forPrompt(turn.input.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
  run.warnings.push(...called.warnings);
  const news = [...whatChanged(state.settings, run), ...context, ...called.messages];
  const tools = changedTools(state.frozen.tools, run);
  return {
    type: "turn.begun",
    ...turn,
    ...(news.length > 0 && { context: news }),
    ...(tools && { tools }),
    settings,
    ...recordedTags(tags),
  };
}

/** What the model was told at the start and no longer holds. */
function whatChanged(before: TurnSettings | null, { settings: now, surroundings }: Run): ContextMessage[] {
  const isElsewhere = before?.cwd !== now.cwd;
  const isOther = isElsewhere || before?.sandbox !== now.sandbox || before.approval !== now.approval;
  return [
    ...(isOther ? [permissionsMessage(now, surroundings)] : []),
    ...(isElsewhere ? [environmentMessage(now, surroundings)] : []),
  ];
}

/** A review that was cut off is finished as one. */
export async function asBegun({ turn }: ThreadState, run: Run): Promise<Run> {
  if (!turn?.review || run.dependencies.answer) return run;
  return (await import("./review/run.ts")).asReview(run, turn.review.coverage);
}
