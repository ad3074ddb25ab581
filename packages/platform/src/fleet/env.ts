// Where an agent is to work, as its creator asks: on the platform, on a machine of theirs, or in a pool of their team.
import type { CreateAgent } from "@agentcli/protocol/api";
import type { Kysely } from "kysely";
import { type AgentSettings, ApiError, invalid, type Principal, type Tables } from "../foundation/index.ts";

export type EnvCheck = (principal: Principal, request: Pick<CreateAgent, "env">) => Promise<void>;

export const needsWorker = (env: AgentSettings["env"]): boolean => env?.type === "pool" || env?.type === "machine";

export const defaultPool = "default";

/** An agent that was meant for one place must not run in another. Environments of the platform are checked elsewhere. */
export const openEnvCheck =
  (db: Kysely<Tables>): EnvCheck =>
  async (principal, { env }) => {
    if (env === undefined || env.type === "cloud") return;
    const { type, name } = env;
    if (type === "machine" && principal.kind !== "user")
      throw new ApiError("user_required", "env: a machine belongs to a user. Use a key of a user, or a pool.");
    if (!(await isKnown(db, principal, { type, name }))) throw invalid([`env: ${missing({ type, name })}`]);
  };

interface Env {
  type: "pool" | "machine";
  name?: string | undefined;
}

/** Known once a worker has registered there, also while none is connected. */
async function isKnown(db: Kysely<Tables>, principal: Principal, env: Env): Promise<boolean> {
  let query = db.selectFrom("workers").select("id").where("team_id", "=", principal.teamId);
  if (env.type === "pool") query = query.where("pool", "=", env.name ?? defaultPool);
  else {
    query = query.where("pool", "is", null).where("user_id", "=", principal.kind === "user" ? principal.userId : 0);
    if (env.name !== undefined) query = query.where("name", "=", env.name);
  }
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

function missing({ type, name = type === "pool" ? defaultPool : undefined }: Env): string {
  const named = name === undefined ? "" : ` ${JSON.stringify(name.slice(0, 100))}`;
  const remedy = {
    pool: `start a worker with: agent worker start --pool ${name}, or leave env out to work on the platform itself`,
    machine: "start a worker there with: agent worker start, or leave env out to work on the platform itself",
  }[type];
  return `this platform has no ${type}${named}; ${remedy}`;
}
