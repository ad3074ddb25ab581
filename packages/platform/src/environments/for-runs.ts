// The environment of a run: chosen once for the disk of an agent, described with the commits that it begins with.
import type { RunEnvironment } from "@agentcli/protocol/api";
import { type EnvironmentFile, environmentFilePath } from "@agentcli/protocol/environment-file";
import { type AgentRepository, type PlatformContext, teamKey } from "../foundation/index.ts";
import type { Images } from "../images/index.ts";
import type { MachineBase, Machines } from "../machines/index.ts";
import {
  hasStartingFile,
  listStartingFiles,
  type OpenWorkspace,
  type Repositories,
  readStartingFile,
} from "../repositories/index.ts";
import { contentKeyOf } from "./builds/content.ts";
import { dockerfileOf } from "./builds/dockerfile.ts";
import { overridesAad } from "./builds/store.ts";
import { type ChoiceOptions, type ChosenEnvironment, chooseEnvironment, pinToBuild } from "./choose.ts";
import { checkEnvironmentJson, EnvironmentFault, readRepositoryFile } from "./config.ts";
import type { AgentOwner, EnvironmentLookup } from "./lookup.ts";
import { projectRoot } from "./machine-settings.ts";
import type { Preparation } from "./prepare.ts";
import { configAad } from "./store.ts";

export interface RunEnvironments {
  choose(agent: AgentOwner, options: ChoiceOptions): Promise<ChosenEnvironment>;
  /** The repositories with the commits that the build has, where the agent begins with them. */
  pinRepositories(
    chosen: ChosenEnvironment,
    agent: { repos: AgentRepository[]; workOnCurrentBranch: boolean },
  ): AgentRepository[];
  /** For a machine, once the repositories are there. */
  describe(request: DescribeRequest, signal: AbortSignal): Promise<EnvironmentUse>;
  /** The configuration alone. One that cannot be read counts as empty: `describe` names the reason. */
  readConfig(request: DescribeRequest, signal: AbortSignal): Promise<EnvironmentFile>;
  /** For an agent without a machine. */
  describeOnHost(chosen: ChosenEnvironment, workspace: OpenWorkspace): RunEnvironment;
}

export interface DescribeRequest {
  chosen: ChosenEnvironment;
  teamId: number;
  workspace: OpenWorkspace;
}

export interface EnvironmentUse {
  shown: RunEnvironment;
  base: MachineBase;
  preparation: Preparation;
}

export interface RunEnvironmentsOptions {
  platform: PlatformContext;
  lookup: EnvironmentLookup;
  machines: Machines;
  images: Images;
  sources: Repositories["sources"];
}

export function openRunEnvironments(options: RunEnvironmentsOptions): RunEnvironments {
  const { platform, lookup, machines, images, sources } = options;
  const { holds } = machines;
  return {
    choose: (agent, choice) => chooseEnvironment({ db: platform.db, lookup, holds }, agent, choice),
    pinRepositories: (chosen, agent) => pinToBuild({ chosen, ...agent, shown: sources.shown, now: new Date() }),
    describe: (request, signal) => describe(options, request, signal),
    readConfig: (request, signal) => readConfig(options, request, signal),
    describeOnHost: (chosen, workspace) => shownOf({ chosen, commits: commitsOf(workspace, sources) }),
  };

  async function describe(
    { platform: context }: RunEnvironmentsOptions,
    request: DescribeRequest,
    signal: AbortSignal,
  ) {
    const { chosen, workspace } = request;
    const repositories = await Promise.all(
      workspace.repositories.map(async (repository) => ({
        repository,
        files: await listStartingFiles(repository, signal),
      })),
    );
    const warnings: string[] = [];
    const withFile = repositories.map(({ repository, files }) => ({
      repository,
      hasFile: files.some(({ path }) => path === environmentFilePath),
    }));
    const found = await findFile(withFile, sources, signal).catch((error: unknown) => {
      if (!(error instanceof EnvironmentFault)) throw error;
      warnings.push(error.message);
      return null;
    });
    const saved = await savedConfig(context, request);
    const config = { ...(found?.config ?? saved), ...(await overridesOf(context, request)) };
    const dockerfile = await dockerfileOf(config, (path) => readFirst(repositories, path, signal));
    const listed = repositories.map(({ repository, files }) => ({ name: sources.canonical(repository.url), files }));
    const { build } = chosen;
    const image = images.base();
    const shown = shownOf({ chosen, commits: commitsOf(workspace, sources), file: found?.file, warnings });
    return {
      shown,
      base: build
        ? {
            layers: build.output.layers,
            prepared: { env: build.output.env, kept: build.output.left?.directories ?? [] },
          }
        : { layers: image ? [image.digest] : [], prepared: { env: image?.env ?? {}, kept: [] } },
      preparation: {
        config,
        root: projectRoot(workspace.repositories),
        // What a failed build left is to be looked at, not to be repaired.
        installFor:
          build?.row.status === "FAILED" ? null : contentKeyOf(listed, { config, dockerfile: dockerfile ?? "" }),
      },
    };
  }
}

async function readConfig(
  { platform, sources }: RunEnvironmentsOptions,
  request: DescribeRequest,
  signal: AbortSignal,
): Promise<EnvironmentFile> {
  const repositories = await Promise.all(
    request.workspace.repositories.map(async (repository) => ({
      repository,
      hasFile: await hasStartingFile(repository, environmentFilePath, signal),
    })),
  );
  try {
    return (await findFile(repositories, sources, signal))?.config ?? (await savedConfig(platform, request));
  } catch (error) {
    if (error instanceof EnvironmentFault) return {};
    throw error;
  }
}

interface StartingRepository {
  repository: OpenWorkspace["repositories"][number];
  /** Whether its starting commit has a configuration. */
  hasFile: boolean;
}

interface ShownRequest {
  chosen: ChosenEnvironment;
  commits: RunEnvironment["commits"];
  file?: RunEnvironment["repoFile"];
  warnings?: string[];
}

const shownOf = ({ chosen, commits, file, warnings = [] }: ShownRequest): RunEnvironment => ({
  source: file ? "repository_file" : chosen.source,
  reason: file ? `The configuration is ${file.path} of ${file.repoUrl}. ${chosen.reason}` : chosen.reason,
  ...(chosen.environment && { environmentId: chosen.environment.id, name: chosen.environment.name }),
  ...(chosen.versionId && { versionId: chosen.versionId }),
  ...(chosen.build && { buildId: chosen.build.row.id }),
  ...(file && { repoFile: file }),
  commits,
  ...(warnings.length > 0 && { warnings }),
});

const commitsOf = ({ repositories }: OpenWorkspace, { shown }: Repositories["sources"]): RunEnvironment["commits"] =>
  repositories.map(({ url, baseCommit }) => ({ repoUrl: shown(url), commit: baseCommit }));

/** Of the first repository that has one. Throws EnvironmentFault. */
async function findFile(
  repositories: StartingRepository[],
  { shown }: Repositories["sources"],
  signal: AbortSignal,
): Promise<{ file: { repoUrl: string; path: string }; config: EnvironmentFile } | null> {
  const found = repositories.find(({ hasFile }) => hasFile);
  const text = found && (await readStartingFile(found.repository, environmentFilePath, signal));
  if (!found || typeof text !== "string") return null;
  const repoUrl = shown(found.repository.url);
  const config = await readRepositoryFile(text, repoUrl);
  if (config instanceof EnvironmentFault) throw config;
  return { file: { repoUrl, path: environmentFilePath }, config };
}

const readFirst = async (
  [first]: Pick<StartingRepository, "repository">[],
  path: string,
  signal: AbortSignal,
): Promise<string | null> => (first ? readStartingFile(first.repository, path, signal) : null);

/** Empty where there is none, or none any more. */
async function savedConfig(
  { db, vault }: PlatformContext,
  { chosen, teamId }: DescribeRequest,
): Promise<EnvironmentFile> {
  if (chosen.versionId === null) return {};
  const query = db.selectFrom("environment_versions").selectAll().where("id", "=", chosen.versionId);
  const version = await query.executeTakeFirst();
  if (!version) return {};
  const key = await teamKey(db, vault, teamId);
  return checkEnvironmentJson(key.openText(version.config, configAad(version.id)));
}

async function overridesOf({ db, vault }: PlatformContext, { chosen, teamId }: DescribeRequest) {
  const row = chosen.build?.row;
  if (!row?.overrides) return {};
  const key = await teamKey(db, vault, teamId);
  return JSON.parse(key.openText(row.overrides, overridesAad(row.id))) as Pick<EnvironmentFile, "install" | "start">;
}
