// Where an agent is to work, as its creator asks: on the platform, on a machine of theirs, or in a pool of their team.
import type { CreateAgent } from "@agentcli/protocol/api";
import { type Kysely, type RawBuilder, sql } from "kysely";
import { type AgentSettings, ApiError, invalid, type Principal, type Tables } from "../foundation/index.ts";
import { defaultPool } from "./default-pool.ts";
import { poolOwnerOfWorker } from "./pools.ts";
import { repositoryNameOf } from "./repository-name.ts";

export type EnvCheck = (principal: Principal, request: Pick<CreateAgent, "env" | "repos">) => Promise<void>;

export const needsWorker = (env: AgentSettings["env"]): boolean => env?.type === "pool" || env?.type === "machine";

/** An agent that was meant for one place must not run in another. Environments of the platform are checked elsewhere. */
export const openEnvCheck =
  (db: Kysely<Tables>): EnvCheck =>
  async (principal, { env, repos = [] }) => {
    if (env === undefined || env.type === "cloud") return;
    const { type, name } = env;
    if (type === "machine" && principal.kind !== "user")
      throw new ApiError("user_required", "env: a machine belongs to a user. Use a key of a user, or a pool.");
    if (!(await isKnown(db, principal, { type, name }))) throw invalid([`env: ${missing({ type, name })}`]);
    await checkRepositories(db, principal, { type, name, urls: repos.map(({ url }) => url) });
  };

interface Env {
  type: "pool" | "machine";
  name?: string | undefined;
}

/** Known once it is registered, or a worker has connected to it, also while none is connected. */
async function isKnown(db: Kysely<Tables>, principal: Principal, env: Env): Promise<boolean> {
  if (env.type === "pool" && (await isRegistered(db, principal, env.name ?? defaultPool))) return true;
  let query = db.selectFrom("workers").select("id").where("team_id", "=", principal.teamId);
  if (env.type === "pool")
    query = query.where("pool", "=", env.name ?? defaultPool).where(isOpenTo(poolOwnerOfWorker, principal));
  else {
    query = query.where("pool", "is", null).where("user_id", "=", principal.kind === "user" ? principal.userId : 0);
    if (env.name !== undefined) query = query.where("name", "=", env.name);
  }
  return (await query.limit(1).executeTakeFirst()) !== undefined;
}

/** A pool of the team, or the principal's own. */
const isOpenTo = (owner: RawBuilder<string | null>, principal: Principal): RawBuilder<boolean> =>
  sql<boolean>`coalesce(${owner} = ${principal.kind === "service_account" ? principal.serviceAccountId : null}::uuid, ${owner} is null)`;

const poolsFor = (db: Kysely<Tables>, principal: Principal, name: string) =>
  db
    .selectFrom("worker_pools")
    .where("team_id", "=", principal.teamId)
    .where("name", "=", name)
    .where(isOpenTo(sql`worker_pools.service_account_id`, principal));

async function isRegistered(db: Kysely<Tables>, principal: Principal, name: string): Promise<boolean> {
  const pools = poolsFor(db, principal, name).select("id");
  return (await pools.where("is_registered", "=", true).limit(1).executeTakeFirst()) !== undefined;
}

const oneRepository =
  "My Machines and repo-bound pools accept one repo in repos. To start an agent with several repos, set env.name to an any-repo pool.";

/** Machines, the default pool and pools of a repository serve one repository. */
async function checkRepositories(
  db: Kysely<Tables>,
  principal: Principal,
  { type, name = defaultPool, urls }: Env & { urls: string[] },
): Promise<void> {
  const bound = type === "pool" ? await repositoriesOf(db, principal, name) : [];
  const isOneOnly = type === "machine" || name === defaultPool || bound.length > 0;
  if (isOneOnly && urls.length > 1) throw new ApiError("validation_error", oneRepository);
  const [url] = urls;
  if (bound.length === 0 || bound.some((repository) => url !== undefined && isSameRepository(url, repository))) return;
  const names = bound.map(({ repoOwner, repoName }) => `${repoOwner}/${repoName}`).join(", ");
  throw invalid([`env: the pool ${JSON.stringify(name.slice(0, 100))} is for ${names}; set repos to it`]);
}

/** Empty: the pool is for any repository. */
async function repositoriesOf(db: Kysely<Tables>, principal: Principal, name: string) {
  const rows = await poolsFor(db, principal, name)
    .select(["repo_owner as repoOwner", "repo_name as repoName", "is_registered"])
    .execute();
  const registered = rows.filter(({ is_registered }) => is_registered);
  return registered.every(({ repoOwner }) => repoOwner !== "") ? registered : [];
}

const isSameRepository = (url: string, { repoOwner, repoName }: { repoOwner: string; repoName: string }): boolean => {
  const named = repositoryNameOf(url);
  const lower = (owner: string, name: string) => `${owner}/${name}`.toLowerCase();
  return named !== null && lower(named.repoOwner, named.repoName) === lower(repoOwner, repoName);
};

function missing({ type, name = type === "pool" ? defaultPool : undefined }: Env): string {
  const named = name === undefined ? "" : ` ${JSON.stringify(name.slice(0, 100))}`;
  const remedy = {
    pool: `start a worker with: agent worker start --pool ${name}, or leave env out to work on the platform itself`,
    machine: "start a worker there with: agent worker start, or leave env out to work on the platform itself",
  }[type];
  return `this platform has no ${type}${named}; ${remedy}`;
}
