// The records with which agentcli begins a thread, and another turn of an existing one.
import { environmentMessage, permissionsMessage, type ThreadState } from "@agentcli/engine";
import type {
  ContextMessage,
  Part,
  RecordOf,
  Tags,
  ThreadRecord,
  TurnSettings,
  WorktreeOrigin,
} from "@agentcli/protocol";
import { changedServerTools } from "./join-servers.ts";
import { sandboxNote, threadCreated } from "./notes.ts";
import type { Recorded, Run } from "./run.ts";

type TurnBegun = RecordOf<"turn.begun">;

/** Data of the first turn that is not part of the assembly. */
export type Opening = Pick<TurnBegun, "context" | "input" | "review" | "clientId" | "compaction">;

export interface NewThread {
  threadId: string;
  worktree?: WorktreeOrigin | undefined;
  tags?: Tags;
  /** Of the program. */
  version: string;
}

export function firstRecords(
  opening: Opening & { turnId: string },
  run: Run,
  { threadId, worktree, tags = {}, version }: NewThread,
): ThreadRecord[] {
  const { settings, traits } = run;
  const labels = recordedTags(tags);
  const program = { name: "agentcli", version };
  return [
    threadCreated({ threadId, ...(worktree && { worktree }), ...labels, settings, assembly: run, traits, program }),
    sandboxNote(run),
    { type: "turn.begun", ...opening, settings, ...labels },
  ];
}

/** Data of a later turn that is not part of the assembly. */
export interface FollowUp extends Pick<TurnBegun, "context" | "review" | "clientId" | "compaction"> {
  turnId: string;
  input: Part[];
  tags: Tags;
}

/** Settings recorded at the start of the thread, for the run that continues it. */
export const recordedIn = (state: ThreadState): Recorded => ({
  settings: state.settings,
  hooks: state.frozen.hooks ?? [],
});

export async function followUpRecord(
  { tags, context = [], ...turn }: FollowUp,
  state: ThreadState,
  run: Run,
): Promise<ThreadRecord> {
  const { settings } = run;
  const prompt = turn.input.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const { messages, warnings } = await run.context.forPrompt(prompt);
  run.warnings.push(...warnings);
  const added = [...changedSettings(state.settings, run), ...context, ...messages];
  const tools = changedServerTools(state.frozen.tools, run.tools, run.traits);
  return {
    type: "turn.begun",
    ...turn,
    ...(added.length > 0 && { context: added }),
    ...(tools && { tools }),
    settings,
    ...recordedTags(tags),
  };
}

/** Messages that correct statements of the first prompt that no longer hold. */
function changedSettings(before: TurnSettings | null, { settings: now, promptEnvironment }: Run): ContextMessage[] {
  const isMoved = before?.cwd !== now.cwd;
  const isChanged = isMoved || before?.sandbox !== now.sandbox || before.approval !== now.approval;
  return [
    ...(isChanged ? [permissionsMessage(now, promptEnvironment)] : []),
    ...(isMoved ? [environmentMessage(now, promptEnvironment)] : []),
  ];
}

/** A turn that began as a review ends as one. */
export async function withRecordedReview<Kind extends Run>({ turn }: ThreadState, run: Kind): Promise<Kind> {
  if (!turn?.review || run.dependencies.finalMessageCheck) return run;
  return (await import("./review-run.ts")).asReview(run, turn.review.coverage);
}

/** Absent instead of an empty table in the record. */
const recordedTags = (tags: Tags): { tags?: Tags } => (Object.keys(tags).length > 0 ? { tags } : {});
