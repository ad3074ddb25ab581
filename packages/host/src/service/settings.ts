// The settings of a service's turn. No user is present, so nothing waits for approval.
import type { TurnSettings } from "@agentcli/protocol";
import type { ChosenModel } from "./model.ts";

export interface SettingsRequest extends Pick<TurnSettings, "cwd" | "shell" | "sandbox" | "effort" | "budget"> {
  model: Pick<ChosenModel, "id" | "provider">;
  /** Tokens. */
  contextWindow: number;
}

export const serviceSettings = ({ model, effort, budget, contextWindow, ...rest }: SettingsRequest): TurnSettings => ({
  model: model.id,
  provider: model.provider,
  ...(effort && { effort }),
  cwd: rest.cwd,
  shell: rest.shell,
  sandbox: rest.sandbox,
  approval: "never",
  ...(budget && { budget }),
  compactAt: compactAtWindow(contextWindow),
});

/** The history is summarised before it fills the window. */
export const compactAtWindow = (contextWindow: number): number => Math.floor(contextWindow * 0.9);

/** Of a model as a client selects it. */
export const effortOf = (
  selection: { params?: { id: string; value: string }[] | undefined } | undefined,
): string | undefined => selection?.params?.find(({ id }) => id === "reasoning_effort")?.value;
