// What may be requested: models that are configured, environments that exist.
import type { CreateAgent, ModelSelection, Repository } from "@agentcli/protocol/api";
import { ApiError, invalid, type Settings } from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { listModels } from "../../inference/index.ts";

export type RepositoryCheck = (principal: Principal, repositories: Repository[]) => Promise<void>;

/** Also of sub-agents, `inherit` aside. */
export function checkModels(
  { model, customSubagents = [] }: Pick<CreateAgent, "model" | "customSubagents">,
  settings: Settings,
): void {
  const others = customSubagents.map((agent) => (typeof agent.model === "string" ? { id: agent.model } : agent.model));
  for (const each of [model, ...others]) if (each?.id !== "inherit") checkModel(each, settings);
}

export function checkModel(model: ModelSelection | undefined, settings: Settings): void {
  if (!model) return;
  const models = listModels(settings.models);
  if (models.some(({ id, aliases = [] }) => id === model.id || aliases.includes(model.id))) return;
  const names = models.map(({ id }) => id).join(", ");
  throw new ApiError("invalid_model", `model.id: unknown model ${model.id.slice(0, 100)}. Available: ${names}.`);
}

/** An agent that was meant for one environment must not run in another. */
export function checkEnv(env: CreateAgent["env"]): void {
  if (env === undefined || (env.type === "cloud" && env.name === undefined)) return;
  const name = env.name === undefined ? "" : ` ${JSON.stringify(env.name.slice(0, 100))}`;
  const location = { cloud: `environment${name}`, pool: `pool${name}`, machine: `machine${name}` }[env.type];
  throw invalid([`env: this platform has no ${location}; leave env out to work on the platform itself`]);
}
