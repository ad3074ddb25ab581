// The settings and first record of a sub-agent, derived from its parent: never wider rights, never another budget.
import type { RecordOf, TurnSettings } from "@agentcli/protocol";
import { textPart } from "../state/messages.ts";
import type { ThreadState } from "../state/state.ts";
import { agentToolNames } from "./names.ts";
import { type AgentRole, narrower } from "./role.ts";

export interface ChildOptions {
  role: AgentRole;
  model?: string;
  effort?: string;
}

export interface Defaults {
  defaultModel?: string;
  defaultEffort?: string;
  /** The provider of a named model, and its name there. Absent: the parent's provider has all of them. */
  locateModel?(name: string): ModelLocation;
  /** Where a thread with this model is compacted. Absent: where its parent is. */
  compactAtOf?(model: string): number;
}

export type ModelLocation = Pick<TurnSettings, "model" | "provider">;

export function childSettings(parent: ThreadState, options: ChildOptions, defaults: Defaults): TurnSettings {
  const parentSettings = settingsOf(parent);
  const { role } = options;
  const location = locate(parentSettings, options, defaults);
  const hasOwnModel = location.model !== parentSettings.model || location.provider !== parentSettings.provider;
  return {
    ...parentSettings,
    ...location,
    ...(hasOwnModel && defaults.compactAtOf && { compactAt: defaults.compactAtOf(location.model) }),
    effort: role.effort ?? options.effort ?? defaults.defaultEffort ?? parentSettings.effort,
    sandbox: narrower(parentSettings.sandbox, role.sandbox),
  };
}

function locate(
  { model, provider }: ModelLocation,
  { role, ...options }: ChildOptions,
  defaults: Defaults,
): ModelLocation {
  const fixed = role.model === "inherit" ? undefined : role.model;
  const name = fixed ?? options.model ?? defaults.defaultModel;
  if (role.provider !== undefined) return { model: name ?? model, provider: role.provider };
  if (name === undefined) return { model, provider };
  return defaults.locateModel?.(name) ?? { model: name, provider };
}

/** The child keeps its model; everything else is limited to what its parent has now, which may be less than at spawn. */
export function limitedTo(parent: ThreadState, child: TurnSettings): TurnSettings {
  const parentSettings = settingsOf(parent);
  const { model, effort, provider, compactAt } = child;
  return {
    ...parentSettings,
    model,
    effort,
    provider,
    compactAt,
    sandbox: narrower(parentSettings.sandbox, child.sandbox),
  };
}

function settingsOf({ turn }: ThreadState): TurnSettings {
  if (!turn) throw new Error("a sub-agent received input outside a turn");
  return turn.settings;
}

export interface NewChild {
  id: string;
  nickname: string;
  role: AgentRole;
  settings: TurnSettings;
  program: RecordOf<"thread.created">["program"];
  /** Sent to the child before its task. */
  background: string[];
  maySpawn: boolean;
}

export function threadCreated(parent: ThreadState, child: NewChild): RecordOf<"thread.created"> {
  const { id, nickname, role, settings, program, background, maySpawn } = child;
  const { instructions, tools, context } = parent.frozen;
  const isAllowed = (name: string) =>
    (maySpawn || !agentToolNames.includes(name)) && (role.tools?.includes(name) ?? true);
  const messages = background.map((text) => ({ role: "user" as const, parts: [textPart(text)] }));
  return {
    type: "thread.created",
    threadId: id,
    parentId: parent.threadId,
    role: role.name,
    nickname,
    frozen: {
      instructions: role.instructions ? `${instructions}\n\nYour role\n${role.instructions}` : instructions,
      tools: tools.filter((tool) => isAllowed(tool.name)),
      context: [...context, ...messages],
    },
    settings,
    program,
  };
}
