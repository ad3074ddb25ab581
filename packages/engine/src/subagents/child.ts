// What a sub-agent begins with, made from what its parent has: never wider rights, never another budget.
import type { RecordOf, TurnSettings } from "@agentcli/protocol";
import { type ThreadState, textPart } from "../state.ts";
import { agentToolNames } from "./names.ts";
import { type AgentRole, narrower } from "./role.ts";

export interface Wanted {
  role: AgentRole;
  model?: string;
  effort?: string;
}

export interface Defaults {
  defaultModel?: string;
  defaultEffort?: string;
}

export function childSettings(parent: ThreadState, wanted: Wanted, defaults: Defaults): TurnSettings {
  const own = settingsOf(parent);
  const { role } = wanted;
  const fixed = role.model === "inherit" ? undefined : role.model;
  return {
    ...own,
    model: fixed ?? wanted.model ?? defaults.defaultModel ?? own.model,
    effort: role.effort ?? wanted.effort ?? defaults.defaultEffort ?? own.effort,
    sandbox: narrower(own.sandbox, role.sandbox),
  };
}

/** Its own model and sandbox, under what its parent has now: that may be less than when the child was made. */
export function heldTo(parent: ThreadState, child: TurnSettings): TurnSettings {
  const own = settingsOf(parent);
  const { model, effort, provider, compactAt } = child;
  return { ...own, model, effort, provider, compactAt, sandbox: narrower(own.sandbox, child.sandbox) };
}

function settingsOf({ turn }: ThreadState): TurnSettings {
  if (!turn) throw new Error("a sub-agent was given work outside a turn");
  return turn.settings;
}

export interface Birth {
  id: string;
  nickname: string;
  role: AgentRole;
  settings: TurnSettings;
  program: RecordOf<"thread.created">["program"];
  /** Told to the child before its task. */
  background: string[];
  mayHaveAgents: boolean;
}

export function threadCreated(parent: ThreadState, birth: Birth): RecordOf<"thread.created"> {
  const { id, nickname, role, settings, program, background, mayHaveAgents } = birth;
  const { instructions, tools, context } = parent.frozen;
  const isAllowed = (name: string) =>
    (mayHaveAgents || !agentToolNames.includes(name)) && (role.tools?.includes(name) ?? true);
  const told = background.map((text) => ({ role: "user" as const, parts: [textPart(text)] }));
  return {
    type: "thread.created",
    threadId: id,
    parentId: parent.threadId,
    role: role.name,
    nickname,
    frozen: {
      instructions: role.instructions ? `${instructions}\n\nYour role\n${role.instructions}` : instructions,
      tools: tools.filter((tool) => isAllowed(tool.name)),
      context: [...context, ...told],
    },
    settings,
    program,
  };
}
