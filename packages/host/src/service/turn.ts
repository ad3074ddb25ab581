// The records with which a service begins a run in its agent's thread. The turn has the id of the run.
import {
  abandonTurn,
  changedTools,
  environmentMessage,
  permissionsMessage,
  planMessage,
  promptParts,
  type ThreadState,
} from "@agentcli/engine";
import type { ContextMessage, RecordOf, ThreadRecord, TurnSettings } from "@agentcli/protocol";
import { sandboxNote, takeNotes, threadCreated } from "../notes.ts";
import type { ServiceAssembly } from "./assemble.ts";

export interface ServiceTurn {
  runId: string;
  threadId: string;
  settings: TurnSettings;
  mode: "agent" | "plan" | undefined;
  prompt: { text: string; images?: Parameters<typeof promptParts>[1] };
  assembly: ServiceAssembly;
  traits: { freeformTools: boolean; stringEdits?: boolean };
  program: RecordOf<"thread.created">["program"];
  /** Replaces the instructions of the engine. */
  systemPrompt?: string | undefined;
  /** Whether the model gets a message when its working directory has changed. */
  onMove: "announce" | "ignore";
  /** For the model, before the prompt. */
  context?: ContextMessage[] | undefined;
}

export async function serviceTurnRecords(state: ThreadState, turn: ServiceTurn): Promise<ThreadRecord[]> {
  const before = state.seq === 0 ? [created(turn)] : abandonTurn(state, cutOff);
  const begun = await turnBegun(state, turn);
  return [...before, sandboxNote(turn.assembly), begun, ...takeNotes(turn.assembly)];
}

const cutOff = { status: "cancelled", reason: "Another run began before this one had ended." } as const;

const created = ({ threadId, settings, assembly, traits, program, systemPrompt }: ServiceTurn): ThreadRecord =>
  threadCreated({ threadId, settings, assembly, traits, program, instructions: systemPrompt });

async function turnBegun(
  state: ThreadState,
  { runId, settings, mode, prompt, assembly, ...turn }: ServiceTurn,
): Promise<ThreadRecord> {
  const before = state.settings ?? settings;
  const { promptEnvironment } = assembly;
  const { messages, warnings } = await assembly.instructions.forPrompt(prompt.text);
  assembly.warnings.push(...warnings);
  const isMoved = turn.onMove === "announce" && before.cwd !== settings.cwd;
  const context: ContextMessage[] = [
    ...(turn.context ?? []),
    ...(before.sandbox === settings.sandbox ? [] : [permissionsMessage(settings, promptEnvironment)]),
    ...(isMoved ? [environmentMessage(settings, promptEnvironment)] : []),
    ...(mode === "plan" ? [planMessage] : []),
    ...messages,
  ];
  const tools = state.seq === 0 ? undefined : changedTools(state.frozen.tools, assembly.tools, turn.traits);
  return {
    type: "turn.begun",
    turnId: runId,
    ...(context.length > 0 && { context }),
    ...(tools && { tools }),
    input: promptParts(prompt.text, prompt.images ?? []),
    settings,
  };
}
