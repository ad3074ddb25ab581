// The environment that the creator of an agent names: it brings its repositories.
import type { CreateAgent } from "@agentcli/protocol/api";
import { invalid, type PlatformContext, type Principal } from "../foundation/index.ts";
import type { EnvironmentAccess } from "./access.ts";
import { checkBuild, readBuild } from "./choose.ts";
import { type EnvironmentRow, findEnvironment, listEnvironmentsNamed } from "./store.ts";

export interface NamedEnvironment {
  name: string;
  repos: { url: string }[];
}

/** Null where none is named. Throws ApiError for one that the principal may not see, and for a build without a disk. */
export type FindNamedEnvironment = (principal: Principal, env: CreateAgent["env"]) => Promise<NamedEnvironment | null>;

export const openFindNamed =
  ({ db }: PlatformContext, access: EnvironmentAccess): FindNamedEnvironment =>
  async (principal, env) => {
    if (env?.type !== "cloud" || (env.name ?? env.buildId) === undefined) return null;
    const candidates = await candidatesOf({ db, principal }, env);
    const [environment] = await access.visible(principal, candidates);
    if (!environment) throw invalid([`env: ${missing(env)}`]);
    if (env.buildId !== undefined) await checkBuild(db, environment, env.buildId);
    return { name: environment.name, repos: environment.repos };
  };

interface Search {
  db: PlatformContext["db"];
  principal: Principal;
}

/** A personal one first. */
async function candidatesOf(
  { db, principal }: Search,
  { name, buildId = "" }: NonNullable<CreateAgent["env"]>,
): Promise<EnvironmentRow[]> {
  const { teamId } = principal;
  const userId = principal.kind === "user" ? principal.userId : null;
  if (name !== undefined) return listEnvironmentsNamed(db, { teamId, userId, name });
  const build = await readBuild(db, buildId);
  return build ? [await findEnvironment(db, teamId, build.environment_id)] : [];
}

const missing = ({ name, buildId }: NonNullable<CreateAgent["env"]>): string =>
  name === undefined
    ? `this platform has no build ${JSON.stringify(buildId)} that you can use; GET /v1/environments/{id}/builds lists them`
    : `this platform has no environment ${JSON.stringify(name)} that you can use; GET /v1/environments lists them, or leave env out`;
