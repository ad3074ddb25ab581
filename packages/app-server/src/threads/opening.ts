// How a turn of a loaded thread begins: what is written first, and what applies to this turn alone.
import type { ThreadState } from "@agentcli/engine";
import type { RunOptions } from "@agentcli/host";
import { firstRecords, followUpRecord, joinServers, type Opening, type Run, withRecordedReview } from "@agentcli/host";
import type { ThreadRecord } from "@agentcli/protocol";
import { type Client, invalidParams } from "../method.ts";
import type { Input, OutputSchema } from "../program.ts";
import { type Instructions, withInstructions } from "./instructions.ts";
import type { SettingsChange } from "./settings-change.ts";
import type { RunningTurn } from "./turn.ts";

export interface TurnRequest {
  kind: RunningTurn["kind"];
  /** The client that is asked for approvals. */
  client: Client | null;
  /** Holds for later turns too. */
  change: SettingsChange;
  /** For this turn alone. */
  adjust?: (options: RunOptions) => RunOptions;
  /** What the final message must satisfy. */
  shape?: OutputSchema | null;
  /** Read when it is known where the turn works. */
  open(run: Run): TurnOpening | Promise<TurnOpening>;
}

export interface TurnOpening extends Opening {
  /** The answer is known, and the model is not asked. */
  answer?: string;
}

interface OpeningState {
  state: ThreadState;
  run: Run;
  /** The run has written nothing yet. */
  isFirst: boolean;
}

export interface TurnContext {
  threadId: string;
  turnId: string;
  /** Of the program. */
  version: string;
  instructions: Instructions;
  /** Aborted when the thread is closed. */
  signal: AbortSignal;
}

export async function openingRecords(
  turn: TurnRequest,
  { state, run, isFirst }: OpeningState,
  { threadId, turnId, version, instructions, signal }: TurnContext,
): Promise<ThreadRecord[]> {
  await joinServers(run, signal);
  const { answer, ...opening } = await turn.open(run);
  const end: ThreadRecord[] =
    answer === undefined ? [] : [{ type: "turn.ended", turnId, end: { status: "completed", message: answer } }];
  if (state.seq > 0) {
    const sandbox: ThreadRecord = { type: "noted", kind: "sandbox", data: { ...run.sandbox } };
    const followUp = await followUpRecord({ turnId, tags: {}, ...opening }, state, run);
    return [...(isFirst ? [sandbox] : []), followUp, ...end];
  }
  const prompt = opening.input.map((part) => (part.type === "text" ? part.text : "")).join("\n");
  const called = await run.context.forPrompt(prompt);
  run.warnings.push(...called.warnings);
  const context = [...(opening.context ?? []), ...called.messages];
  const whole = { ...opening, turnId, ...(context.length > 0 && { context }) };
  return [...withInstructions(firstRecords(whole, run, { threadId, version }), instructions), ...end];
}

/** The run with what holds for this turn alone. */
export async function turnRun(
  run: Run,
  { shape }: Pick<TurnRequest, "shape">,
  { state, running }: { state: ThreadState; running: RunningTurn },
): Promise<Run> {
  const dependencies = { ...run.dependencies, steering: running.drain };
  if (!shape) return withRecordedReview(state, { ...run, dependencies });
  const requestOptions = { ...dependencies.requestOptions, outputSchema: shape.strict };
  return { ...run, dependencies: { ...dependencies, requestOptions, finalMessageCheck: shape.answer } };
}

export async function readSchema(schema: unknown, { openOutputSchema }: Input): Promise<OutputSchema | null> {
  if (schema === undefined || schema === null) return null;
  try {
    return await openOutputSchema(schema, "outputSchema");
  } catch (error) {
    throw invalidParams((error as Error).message);
  }
}
