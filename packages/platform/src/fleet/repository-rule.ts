// Which repository a worker is for: the one that its first directory is a checkout of. It then gets no agent of another one, unless
// the agent has named that machine, or a pool that is for any repository.
import { type RawBuilder, sql } from "kysely";
import { shownRepository } from "../identity-tokens/index.ts";
import { defaultPool } from "./default-pool.ts";
import { poolOwnerOfAgent } from "./pools.ts";

export interface RepositoryNeed {
  /** The first of the agent; null: it has none, or it goes to any worker of its target. */
  repository: string | null;
}

const pool = sql`coalesce(agents.settings->'env'->>'name', ${defaultPool})`;

/** All that was registered under the name is for some repository. */
const isPoolOfRepositories = sql<boolean>`(
  select coalesce(bool_and(pool.repo_owner <> ''), ${pool} = ${defaultPool}) from worker_pools pool
  where pool.team_id = agents.team_id and pool.name = ${pool} and pool.is_registered
    and pool.service_account_id is not distinct from ${poolOwnerOfAgent}
)`;

/** Of `agents`. */
export const neededRepository: RawBuilder<string | null> = sql`(
  case when case agents.settings->'env'->>'type'
    when 'pool' then ${isPoolOfRepositories}
    else agents.settings->'env'->>'name' is null end
  then agents.settings->'repos'->0->>'url' end
)`;

/** Pure. `repoUrl`: what the worker has reported; null: nothing, and it serves any. */
export const servesRepository = (repoUrl: string | null, { repository }: RepositoryNeed): boolean =>
  repoUrl === null || repository === null || nameOf(repoUrl) === nameOf(repository);

/** Also of git@HOST:PATH, as a checkout may have it. */
const nameOf = (url: string): string =>
  shownRepository(url.replace(/^(?:[^/@:]+@)?([^/:]+):(?!\/)/, "$1/")).toLowerCase();
