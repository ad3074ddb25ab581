// Environments for the operator's commands: over the database, of all teams and users.
import type { Kysely } from "kysely";
import { ApiError, type Tables, teamKey, type Vault } from "../foundation/index.ts";
import { type LogPiece, readLog } from "./builds/log.ts";
import { readOutput } from "./builds/output.ts";
import { activateBuild, insertBuild } from "./builds/store.ts";
import type { EnvironmentRow } from "./store.ts";
import type { BuildRow } from "./views.ts";

export interface EnvironmentOperator {
  list(): Promise<EnvironmentEntry[]>;
  /** By id or name. Throws ApiError. */
  find(name: string): Promise<EnvironmentRow>;
  /** Throws ApiError. */
  findBuild(id: string): Promise<BuildRow>;
  /** Newest first. */
  builds(environmentId: string): Promise<BuildRow[]>;
  build(environment: EnvironmentRow, kind: "active" | "draft"): Promise<BuildRow>;
  activate(build: BuildRow): Promise<void>;
  readLog(build: BuildRow, after: number): Promise<LogPiece[]>;
}

export interface EnvironmentEntry {
  id: string;
  name: string;
  team: string;
  owner: "team" | "personal";
  repos: string[];
  activeBuildId: string | null;
}

const maxBuilds = 100;

export function openEnvironmentOperator(db: Kysely<Tables>, vault: Vault): EnvironmentOperator {
  const keyOf = async (build: BuildRow) => {
    const query = db.selectFrom("environments").select("team_id").where("id", "=", build.environment_id);
    return teamKey(db, vault, (await query.executeTakeFirstOrThrow()).team_id);
  };
  return {
    list: () => listAll(db),
    find: (name) => findByName(db, name),
    async findBuild(id) {
      const row = await db.selectFrom("environment_builds").selectAll().where("id", "=", id).executeTakeFirst();
      if (row) return row;
      throw new ApiError("build_not_found", `There is no build ${id}. List them with: platform env list NAME`);
    },
    builds: (environmentId) =>
      db
        .selectFrom("environment_builds")
        .selectAll()
        .where("environment_id", "=", environmentId)
        .orderBy("created_at", "desc")
        .orderBy("id", "desc")
        .limit(maxBuilds)
        .execute(),
    async build(environment, kind) {
      const key = await teamKey(db, vault, environment.team_id);
      const request = { environment, key, trigger: "MANUAL", draft: kind === "draft", requestedBy: null } as const;
      return db.transaction().execute((tx) => insertBuild(tx, request));
    },
    activate: (build) => db.transaction().execute((tx) => activateBuild(tx, build)),
    readLog: async (build, after) => readLog(db, { buildId: build.id, key: await keyOf(build) }, after),
  };
}

async function listAll(db: Kysely<Tables>): Promise<EnvironmentEntry[]> {
  const rows = await db
    .selectFrom("environments")
    .innerJoin("teams", "teams.id", "environments.team_id")
    .selectAll("environments")
    .select("teams.name as team")
    .orderBy("teams.name")
    .orderBy("environments.name")
    .execute();
  return rows.map(({ id, name, team, user_id, repos, active_build_id }) => ({
    id,
    name,
    team,
    owner: user_id === null ? "team" : "personal",
    repos: repos.map(({ url }) => url),
    activeBuildId: active_build_id,
  }));
}

async function findByName(db: Kysely<Tables>, name: string): Promise<EnvironmentRow> {
  const rows = await db.selectFrom("environments").selectAll().execute();
  const matches = rows.filter((row) => row.id === name || row.name === name);
  const [match] = matches;
  if (match && matches.length === 1) return match;
  const reason = match
    ? `There are ${matches.length} environments ${name}; use an id: ${matches.map(({ id }) => id).join(", ")}.`
    : `There is no environment ${name}. List them with: platform env list`;
  throw new ApiError("environment_not_found", reason);
}

/** Throws ApiError for a build without a disk. */
export function diskOf(build: BuildRow): string[] {
  const output = readOutput(build.output);
  if (output !== null) return output.layers;
  throw new ApiError("build_not_ready", `Build ${build.id} has no disk to look at: it is ${build.status}.`);
}
