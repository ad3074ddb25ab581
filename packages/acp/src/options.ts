// Modes, models and effort: what the editor offers to choose. A choice applies from the next prompt on.

import type { AskForApproval, Model, ParamsOf, SandboxPolicy } from "@agentcli/protocol/app-server";
import { RequestError, type SessionConfigOption, type SessionModeState } from "@agentclientprotocol/sdk";

export interface Settings {
  model: string;
  effort: string | null;
  cwd: string;
  sandbox: SandboxPolicy;
  approval: AskForApproval;
}

/** For the next turn and those after it. */
export type TurnChange = Pick<ParamsOf<"turn/start">, "model" | "effort" | "approvalPolicy" | "sandboxPolicy">;

interface Mode {
  id: string;
  name: string;
  description: string;
  sandbox: SandboxPolicy;
  approval: "on-request" | "never";
}

const modes: Mode[] = [
  {
    id: "read-only",
    name: "Read only",
    description: "Commands write nothing; the agent asks for more",
    sandbox: { type: "readOnly" },
    approval: "on-request",
  },
  {
    id: "auto",
    name: "Write in the project",
    description: "Commands write in the project; the agent asks before it leaves the sandbox",
    sandbox: { type: "workspaceWrite" },
    approval: "on-request",
  },
  {
    id: "full-access",
    name: "Full access",
    description: "No sandbox, and the agent never asks",
    sandbox: { type: "dangerFullAccess" },
    approval: "never",
  },
];

/** What the configuration says, where none of the modes is the same. */
const own = { id: "configured", name: "As configured", description: "Sandbox and approvals of the configuration" };

export interface Choices {
  settings: Settings;
  models: Model[];
  /** What the thread began with, where no mode has it. */
  configured: Permissions | null;
}

type Permissions = Pick<Settings, "sandbox" | "approval">;

const modeOf = ({ sandbox, approval }: Permissions): string =>
  modes.find((mode) => mode.sandbox.type === sandbox.type && mode.approval === approval)?.id ?? own.id;

export const configuredPermissions = (settings: Settings): Permissions | null =>
  modeOf(settings) === own.id ? { sandbox: settings.sandbox, approval: settings.approval } : null;

export const modeState = ({ settings, configured }: Choices): SessionModeState => ({
  currentModeId: modeOf(settings),
  availableModes: [
    ...(configured ? [own] : []),
    ...modes.map(({ id, name, description }) => ({ id, name, description })),
  ],
});

/** Editors hide modes where there is any option: so the mode is one too. */
export function configOptions(choices: Choices): SessionConfigOption[] {
  const { settings, models } = choices;
  const { currentModeId, availableModes } = modeState(choices);
  const current = models.find(({ model }) => model === settings.model);
  const efforts = current?.supportedReasoningEfforts ?? [];
  const listed = models.map(({ model, displayName, description }) => ({
    value: model,
    name: displayName,
    description,
  }));
  return [
    {
      type: "select",
      id: "mode",
      name: "Mode",
      category: "mode",
      currentValue: currentModeId,
      options: availableModes.map(({ id, name, description }) => ({
        value: id,
        name,
        description: description ?? null,
      })),
    },
    {
      type: "select",
      id: "model",
      name: "Model",
      category: "model",
      currentValue: settings.model,
      options: current ? listed : [{ value: settings.model, name: settings.model }, ...listed],
    },
    ...(current && efforts.length > 0
      ? [effortOption(settings.effort ?? current.defaultReasoningEffort, efforts)]
      : []),
  ];
}

function effortOption(currentValue: string, efforts: Model["supportedReasoningEfforts"]): SessionConfigOption {
  const listed = efforts.map(({ reasoningEffort, description }) => ({
    value: reasoningEffort,
    name: reasoningEffort,
    description,
  }));
  const isListed = listed.some(({ value }) => value === currentValue);
  return {
    type: "select",
    id: "effort",
    name: "Effort",
    category: "thought_level",
    currentValue,
    options: isListed ? listed : [{ value: currentValue, name: currentValue }, ...listed],
  };
}

export interface Chosen {
  change: TurnChange;
  settings: Partial<Settings>;
}

/** What a choice means for the next turn; throws for one that was not offered. */
export function choose(choices: Choices, id: string, value: string): Chosen {
  const option = configOptions(choices).find((each) => each.id === id);
  if (option?.type !== "select") throw unknown(`There is no option ${id}.`);
  const offered = option.options.flatMap((each) => ("value" in each ? [each.value] : []));
  if (!offered.includes(value))
    throw unknown(`${option.name} has no value ${value}: choose one of ${offered.join(", ")}.`);
  if (id === "model") return { change: { model: value }, settings: { model: value, effort: null } };
  if (id === "effort") return { change: { effort: value }, settings: { effort: value } };
  const permissions = modes.find((each) => each.id === value) ?? choices.configured;
  if (!permissions) throw unknown(`There is no mode ${value}.`);
  const { sandbox, approval } = permissions;
  return { change: { sandboxPolicy: sandbox, approvalPolicy: approval }, settings: { sandbox, approval } };
}

const unknown = (message: string): RequestError => RequestError.invalidParams(undefined, message);
