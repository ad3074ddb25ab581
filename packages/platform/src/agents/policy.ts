// What may be asked for: models that are configured, places that exist, repositories that may be reached.
import type { CreateAgent, ModelSelection, Repository } from "@agentcli/protocol/api";
import { listModels } from "../catalogue/index.ts";
import type { Settings } from "../config/index.ts";
import { ApiProblem, invalid } from "../http/index.ts";
import type { Principal } from "../principals/index.ts";

export type RepositoryCheck = (principal: Principal, repositories: Repository[]) => Promise<void>;

/** Also of sub-agents, `inherit` aside. */
export function checkModels({ model, customSubagents = [] }: CreateAgent, settings: Settings): void {
  const others = customSubagents.map((agent) => (typeof agent.model === "string" ? { id: agent.model } : agent.model));
  for (const each of [model, ...others]) if (each?.id !== "inherit") checkModel(each, settings);
}

export function checkModel(model: ModelSelection | undefined, settings: Settings): void {
  if (!model) return;
  const known = listModels(settings.models);
  if (known.some(({ id, aliases = [] }) => id === model.id || aliases.includes(model.id))) return;
  const names = known.map(({ id }) => id).join(", ");
  throw new ApiProblem("invalid_model", `model.id: there is no model ${model.id.slice(0, 100)}. Known: ${names}.`);
}

/** An agent that was meant for one place must not work in another. */
export function checkEnv(env: CreateAgent["env"]): void {
  if (env === undefined || (env.type === "cloud" && env.name === undefined)) return;
  const name = env.name === undefined ? "" : ` ${JSON.stringify(env.name.slice(0, 100))}`;
  const place = { cloud: `environment${name}`, pool: `pool${name}`, machine: `machine${name}` }[env.type];
  throw invalid([`env: this platform has no ${place}; leave env out to work on the platform itself`]);
}
