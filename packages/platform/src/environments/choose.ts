// Which environment an agent works in, and which build of it the disk of its machine begins with.
import type { RunEnvironment } from "@agentcli/protocol/api";
import { type AgentRepository, type AgentSettings, ApiError, type Queries } from "../foundation/index.ts";
import { type BuildOutput, readOutput } from "./builds/output.ts";
import type { AgentOwner, EnvironmentLookup } from "./lookup.ts";
import type { EnvironmentRow } from "./store.ts";
import type { BuildRow } from "./views.ts";

export interface ChosenEnvironment {
  source: Exclude<RunEnvironment["source"], "repository_file">;
  environment: EnvironmentRow | null;
  /** Of its configuration; null without an environment. */
  versionId: string | null;
  build: ChosenBuild | null;
  /** For people. */
  reason: string;
}

export interface ChosenBuild {
  row: BuildRow;
  output: BuildOutput;
  /** By the creator of the agent. */
  isRequested: boolean;
}

export interface ChoiceHost {
  db: Queries;
  lookup: Pick<EnvironmentLookup, "ofAgent">;
  /** Whether machines can begin with these layers here. */
  holds(layers: string[]): boolean;
}

export interface ChoiceOptions {
  /** Only the disks of machines begin with builds. */
  location: "machine" | "host";
  /** What the disk of the agent began with, if it has one. */
  former: RunEnvironment | null;
}

export async function chooseEnvironment(
  host: ChoiceHost,
  agent: AgentOwner,
  { location, former }: ChoiceOptions,
): Promise<ChosenEnvironment> {
  if (former !== null) return chooseAgain(host, former);
  const { db } = host;
  const { env } = agent.settings;
  const requested = env?.buildId === undefined ? undefined : await readBuild(db, env.buildId);
  const id = requested?.environment_id ?? (await host.lookup.ofAgent(agent));
  const environment = id === null ? undefined : await readEnvironment(db, id);
  if (!environment)
    return { source: "none", environment: null, versionId: null, build: null, reason: noEnvironment(agent.settings) };
  const isNamed = env?.type === "cloud" && (env.name ?? env.buildId) !== undefined;
  const source = isNamed ? "named" : environment.user_id === null ? "team" : "personal";
  const about = `${whose(environment)} ${JSON.stringify(environment.name)}${isNamed ? "" : ", which has these repositories"}`;
  const { build, reason } = location === "host" ? onHost : await chooseBuild(host, environment, requested);
  const versionId = build?.row.version_id ?? environment.version_id;
  return { source, environment, versionId, build, reason: `${about}. ${reason}` };
}

/** A build that is active now came too late: the disk is there. */
async function chooseAgain({ db }: ChoiceHost, former: RunEnvironment): Promise<ChosenEnvironment> {
  const row = former.buildId === undefined ? undefined : await readBuild(db, former.buildId);
  const output = row ? readOutput(row.output) : null;
  return {
    source: former.source === "repository_file" ? "none" : former.source,
    environment:
      (former.environmentId === undefined ? undefined : await readEnvironment(db, former.environmentId)) ?? null,
    versionId: former.versionId ?? null,
    build: row && output ? { row, output, isRequested: true } : null,
    reason: `The disk of the agent is that of its earlier runs, which began ${former.buildId ? `with build ${former.buildId}` : "without a build"}.`,
  };
}

const onHost = { build: null, reason: "Not used: the agent works on the host itself, without a machine." };

const whose = ({ user_id }: EnvironmentRow): string =>
  user_id === null ? "The team's environment" : "Your personal environment";

const noEnvironment = ({ repos }: Pick<AgentSettings, "repos">): string =>
  repos.length === 0 ? "The agent has no repositories." : "No saved environment has exactly these repositories.";

async function chooseBuild(
  { db, holds }: ChoiceHost,
  environment: EnvironmentRow,
  requested: BuildRow | undefined,
): Promise<{ build: ChosenBuild | null; reason: string }> {
  const id = requested?.id ?? environment.active_build_id;
  const row = requested ?? (id === null ? undefined : await readBuild(db, id));
  if (!row)
    return { build: null, reason: "It has no build yet that succeeded, so install runs in the machine itself." };
  const output = readOutput(row.output);
  if (output === null || !holds(output.layers))
    return {
      build: null,
      reason: `The disk of build ${row.id} is not on this server, so install runs in the machine.`,
    };
  const why = requested ? `was requested; it is ${row.status}` : "is the active one";
  return { build: { row, output, isRequested: requested !== undefined }, reason: `Build ${row.id} ${why}.` };
}

export const readBuild = (db: Queries, id: string): Promise<BuildRow | undefined> =>
  db.selectFrom("environment_builds").selectAll().where("id", "=", id.toLowerCase()).executeTakeFirst();

const readEnvironment = (db: Queries, id: string): Promise<EnvironmentRow | undefined> =>
  db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirst();

export interface PinRequest {
  chosen: Pick<ChosenEnvironment, "environment" | "build">;
  repos: AgentRepository[];
  /** Such an agent pushes to the branch, so that it needs the tip of it. */
  workOnCurrentBranch: boolean;
  shown(url: string): string;
  now: Date;
}

/** Repositories without a reference of their own begin with the commit of the build, while it is not too old. */
export function pinToBuild({ chosen, repos, workOnCurrentBranch, shown, now }: PinRequest): AgentRepository[] {
  const { environment, build } = chosen;
  if (environment === null || build === null || workOnCurrentBranch || isStale(environment, build, now)) return repos;
  const commits = new Map(build.row.commits.map(({ repoUrl, commit }) => [repoUrl, commit]));
  return repos.map((repository) => {
    const commit = commits.get(shown(repository.url));
    const isFree = repository.startingRef === undefined && repository.prUrl === undefined;
    return isFree && commit !== undefined ? { ...repository, startingRef: commit } : repository;
  });
}

/** A build that was asked for is meant as it is. */
export function isStale(
  { update_stale_builds, staleness_hours }: Pick<EnvironmentRow, "update_stale_builds" | "staleness_hours">,
  { row, isRequested }: Pick<ChosenBuild, "row" | "isRequested">,
  now: Date,
): boolean {
  const ageMs = now.getTime() - row.created_at.getTime();
  return !isRequested && update_stale_builds && ageMs >= staleness_hours * 3_600_000;
}

/** Throws ApiError: `validation_error` for a name or a build that there is not, `build_not_ready` for one without a disk. */
export async function checkBuild(db: Queries, environment: EnvironmentRow, buildId: string): Promise<void> {
  const build = await readBuild(db, buildId);
  if (build?.environment_id !== environment.id)
    throw new ApiError(
      "build_not_found",
      `env.buildId: the environment ${environment.name} has no build ${buildId.slice(0, 100)}.`,
    );
  if (readOutput(build.output) === null)
    throw new ApiError(
      "build_not_ready",
      `env.buildId: build ${build.id} has no disk to start from: it is ${build.status}. Choose another build, or leave env.buildId out to use the active one.`,
    );
}
