// The records with which a run begins in its agent's thread.
import {
  abandonTurn,
  changedTools,
  environmentMessage,
  freeze,
  permissionsMessage,
  planMessage,
  promptParts,
  type ThreadState,
} from "@agentcli/engine";
import type { ContextMessage, ThreadRecord } from "@agentcli/protocol";
import { version } from "../version.ts";
import type { Intent } from "./compose/intent.ts";
import type { Equipment } from "./compose/open.ts";

export interface Beginning {
  runId: string;
  threadId: string;
  intent: Intent;
  equipment: Equipment;
}

/** A turn is called like its run. */
export function openingRecords(state: ThreadState, beginning: Beginning): ThreadRecord[] {
  const { equipment } = beginning;
  const sandbox: ThreadRecord = { type: "noted", kind: "sandbox", data: { ...equipment.sandbox } };
  const before = state.seq === 0 ? [created(beginning)] : abandonTurn(state, cutOff);
  return [...before, sandbox, turnBegun(state, beginning), ...equipment.notes];
}

const cutOff = { status: "cancelled", reason: "Another run began before this one had ended." } as const;

function created({ threadId, intent, equipment }: Beginning): ThreadRecord {
  const { settings, options } = intent;
  const frozen = freeze(settings, equipment.surroundings, equipment.tools, traitsOf(intent));
  return {
    type: "thread.created",
    threadId,
    frozen: {
      ...frozen,
      ...(options.systemPrompt !== undefined && { instructions: options.systemPrompt }),
      ...(equipment.hooks.length > 0 && { hooks: equipment.hooks }),
    },
    settings,
    program: { name: "platform-sdk", version },
  };
}

function turnBegun(state: ThreadState, { runId, intent, equipment }: Beginning): ThreadRecord {
  const { settings, message, mode } = intent;
  const before = state.settings ?? settings;
  const { text, images = [] } = typeof message === "string" ? { text: message } : message;
  const called = equipment.written.forPrompt(text);
  equipment.notes.push(
    ...called.warnings.map((warning): ThreadRecord => ({ type: "noted", kind: "warning", data: { message: warning } })),
  );
  const context: ContextMessage[] = [
    ...(before.sandbox === settings.sandbox ? [] : [permissionsMessage(settings, equipment.surroundings)]),
    ...(before.cwd === settings.cwd ? [] : [environmentMessage(settings, equipment.surroundings)]),
    ...(mode === "plan" ? [planMessage] : []),
    ...called.messages,
  ];
  const tools = state.seq === 0 ? undefined : changedTools(state.frozen.tools, equipment.tools, traitsOf(intent));
  return {
    type: "turn.begun",
    turnId: runId,
    ...(context.length > 0 && { context }),
    ...(tools && { tools }),
    input: promptParts(text, images),
    settings,
  };
}

const traitsOf = ({ chosen }: Intent) => ({ freeformTools: chosen.facts.freeform });
