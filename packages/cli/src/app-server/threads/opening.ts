// How a turn of a loaded thread begins: what is written first, and what this turn alone is carried out with.
import type { ThreadState } from "@agentcli/engine";
import type { ThreadRecord } from "@agentcli/protocol";
import { asBegun, followUpRecord } from "../../follow-up.ts";
import { joinServers } from "../../mcp/join.ts";
import type { OutputSchema } from "../../output-schema/load.ts";
import type { Run } from "../../run.ts";
import type { RunOptions } from "../../run-options.ts";
import { firstRecords, type Opening } from "../../thread.ts";
import { type Client, invalidParams } from "../method.ts";
import { type Instructions, withInstructions } from "./instructions.ts";
import type { RunningTurn } from "./turn.ts";
import type { Wish } from "./wishes.ts";

export interface TurnRequest {
  kind: RunningTurn["kind"];
  /** Who is asked when somebody has to be. */
  client: Client | null;
  /** Holds for later turns too. */
  wish: Wish;
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

interface Around {
  state: ThreadState;
  run: Run;
  /** The run has written nothing yet. */
  isFirst: boolean;
}

export async function openingRecords(
  turn: TurnRequest,
  { state, run, isFirst }: Around,
  { threadId, turnId, instructions }: { threadId: string; turnId: string; instructions: Instructions },
): Promise<ThreadRecord[]> {
  await joinServers(run);
  const { answer, ...opening } = await turn.open(run);
  const end: ThreadRecord[] =
    answer === undefined ? [] : [{ type: "turn.ended", turnId, end: { status: "completed", message: answer } }];
  if (state.seq > 0) {
    const sandbox: ThreadRecord = { type: "noted", kind: "sandbox", data: { ...run.sandbox } };
    return [...(isFirst ? [sandbox] : []), followUpRecord({ turnId, tags: {}, ...opening }, state, run), ...end];
  }
  const called = run.context.forPrompt(opening.input.map((part) => (part.type === "text" ? part.text : "")).join("\n"));
  run.warnings.push(...called.warnings);
  const context = [...(opening.context ?? []), ...called.messages];
  const whole = { ...opening, turnId, ...(context.length > 0 && { context }) };
  return [...withInstructions(firstRecords(whole, run, { threadId }), instructions), ...end];
}

/** The run with what holds for this turn alone. */
export async function turnRun(
  run: Run,
  { shape }: Pick<TurnRequest, "shape">,
  { state, running }: { state: ThreadState; running: RunningTurn },
): Promise<Run> {
  const dependencies = { ...run.dependencies, steering: running.heed };
  if (!shape) return asBegun(state, { ...run, dependencies });
  const requestOptions = { ...dependencies.requestOptions, outputSchema: shape.strict };
  return { ...run, dependencies: { ...dependencies, requestOptions, answer: shape.answer } };
}

/** Loaded only when asked for: the checker of schemas is larger than the rest of the program. */
export async function readSchema(schema: unknown): Promise<OutputSchema | null> {
  if (schema === undefined || schema === null) return null;
  const { openOutputSchema } = await import("../../output-schema/load.ts");
  try {
    return openOutputSchema(schema, "outputSchema");
  } catch (error) {
    throw invalidParams((error as Error).message);
  }
}
