// The records with which a run begins in its agent's thread.
import { abandonTurn, freeze, permissionsMessage, type ThreadState } from "@agentcli/engine";
import type { ContextMessage, Part, ThreadRecord } from "@agentcli/protocol";
import type { UserMessage } from "../options.ts";
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
  const isOther = state.settings !== null && state.settings.sandbox !== settings.sandbox;
  const called = equipment.written.forPrompt(typeof message === "string" ? message : message.text);
  const context: ContextMessage[] = [
    ...(isOther ? [permissionsMessage(settings, equipment.surroundings)] : []),
    ...(mode === "plan" ? [planMode] : []),
    ...called.messages,
  ];
  const tools = equipment.tools.map((tool) => tool.spec(specForms(intent)));
  const isChanged = state.seq > 0 && JSON.stringify(tools) !== JSON.stringify(state.frozen.tools);
  return {
    type: "turn.begun",
    turnId: runId,
    ...(context.length > 0 && { context }),
    // Only what is new: a changed list would cost the provider's cache of the conversation.
    ...(isChanged && { tools }),
    input: inputOf(message),
    settings,
  };
}

const traitsOf = ({ chosen }: Intent) => ({ freeformTools: chosen.facts.freeform });
const specForms = ({ chosen }: Intent) => ({ freeform: chosen.facts.freeform });

const planMode: ContextMessage = {
  role: "developer",
  parts: [
    {
      type: "text",
      text: "Plan mode: look around as much as you need, change nothing, and answer with a plan: small steps in order, each with what shows that it is done.",
    },
  ],
};

function inputOf(message: UserMessage): Part[] {
  if (typeof message === "string") return [{ type: "text", text: message }];
  const images = (message.images ?? []).map(
    (image): Part => ({
      type: "image",
      url: "url" in image ? image.url : `data:${image.mimeType};base64,${image.data}`,
    }),
  );
  return [...images, { type: "text", text: message.text }];
}
