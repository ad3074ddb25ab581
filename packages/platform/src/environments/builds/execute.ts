// Executes one build from its claim to its end: what it is made from, whether it can be skipped, then the executor.

import { readPolicy } from "../../egress/index.ts";
import {
  type DataKey,
  isDatabaseAway,
  isStorageFull,
  type PlatformContext,
  type Queries,
  teamKey,
} from "../../foundation/index.ts";
import { ImageFault } from "../../images/index.ts";
import { RepositoryFault } from "../../repositories/index.ts";
import type { SinglePhaseNames } from "../../secrets/index.ts";
import { checkEnvironmentJson, EnvironmentFault } from "../config.ts";
import { configAad, type EnvironmentRow, readVersion } from "../store.ts";
import { type ContentReader, type PreparedContent, readContent } from "./content.ts";
import type { BuildExecutor, BuildSecret } from "./executor.ts";
import { openLogWriter } from "./log-writer.ts";
import { withoutSecrets } from "./redacted-log.ts";
import {
  activeContentKey,
  type BuildEnd,
  type BuildOverrides,
  type ClaimedBuild,
  endBuild,
  overridesAad,
  recordContent,
} from "./store.ts";
import { withheldSecrets } from "./withheld-secrets.ts";

export interface BuildHost {
  platform: PlatformContext;
  content: ContentReader;
  executor: BuildExecutor;
  /** For `install` of this environment. */
  secretsOf(environment: EnvironmentRow): Promise<BuildSecret[]>;
  singlePhaseNames(environment: EnvironmentRow): Promise<SinglePhaseNames>;
  /** Part of the transaction that ends a draft which waits for a decision. */
  announceDraft(tx: Queries, buildId: string): Promise<void>;
}

/** A build that took this many servers with it would take the next. */
const maxCrashedServers = 3;

/** Returns when the build has ended, or when another server must take it over. */
export async function executeBuild(claimed: ClaimedBuild, host: BuildHost, signal: AbortSignal): Promise<void> {
  const { db, vault, log: serverLog } = host.platform;
  const { build, buildId, epoch } = claimed;
  const environment = await readEnvironment(db, build.environment_id);
  if (!environment) return;
  const key = await teamKey(db, vault, environment.team_id);
  const secrets = await host.secretsOf(environment);
  const writer = withoutSecrets(openLogWriter(db, { buildId, key, epoch }), secrets);
  const context = { claimed, environment, key, secrets, log: writer.write, host };
  let end: BuildEnd;
  try {
    end = await run(context, signal);
  } catch (error) {
    if (isDatabaseAway(error)) return leave(writer, error);
    end = failureOf(error, writer.write);
    if (isStorageFull(error)) await host.platform.storage.check();
    else if (!isUserFacing(error)) serverLog.error("environment build failed", error, { buildId });
  }
  if (signal.aborted && end.status !== "SUCCEEDED") {
    if (!(await isCancelled(db, buildId))) return writer.close();
    writer.write("Cancelled.\n");
    end = { status: "CANCELLED" };
  }
  await writer.close();
  await endBuild(host, claimed, end);
}

/** The next claim begins it again. */
async function leave(writer: { close(): Promise<void> }, error: unknown): Promise<never> {
  await writer.close().catch(() => {});
  throw error;
}

const readEnvironment = (db: Queries, id: string): Promise<EnvironmentRow | undefined> =>
  db.selectFrom("environments").selectAll().where("id", "=", id).executeTakeFirst();

async function isCancelled(db: Queries, buildId: string): Promise<boolean> {
  const row = await db
    .selectFrom("environment_builds")
    .select("cancel_requested_at")
    .where("id", "=", buildId)
    .executeTakeFirst();
  return row !== undefined && row.cancel_requested_at !== null;
}

interface BuildContext {
  claimed: ClaimedBuild;
  environment: EnvironmentRow;
  key: DataKey;
  secrets: BuildSecret[];
  log(text: string): void;
  host: BuildHost;
}

async function run(context: BuildContext, signal: AbortSignal): Promise<BuildEnd> {
  const { claimed, environment, log, host } = context;
  const { build, buildId } = claimed;
  if (build.crashed_servers >= maxCrashedServers) {
    log(`${maxCrashedServers} servers in a row stopped while they executed this build. It is not tried again.\n`);
    return { status: "FAILED", failure: { type: "TERMINAL_FAILURE", code: "server_lost" }, output: null };
  }
  if (claimed.wasInterrupted) {
    log("The server that executed this build stopped. It begins again.\n");
    await host.executor.discard(buildId);
  }
  signal.throwIfAborted();
  const content = await prepare(context, signal);
  await recordContent(host.platform.db, claimed, content);
  if (build.trigger === "RECURRING") {
    const active = await activeContentKey(host.platform.db, environment.id);
    if (active === content.contentKey) {
      log(`Nothing that this environment depends on has changed since ${environment.active_build_id}. Skipped.\n`);
      return { status: "SKIPPED" };
    }
  }
  return execute(context, content, signal);
}

async function prepare({ claimed, environment, key, log, host }: BuildContext, signal: AbortSignal) {
  const { build } = claimed;
  const version = await readVersion(host.platform.db, build.version_id);
  const saved = await checkEnvironmentJson(key.openText(version.config, configAad(version.id)));
  const overrides: BuildOverrides =
    build.overrides === null ? {} : JSON.parse(key.openText(build.overrides, overridesAad(build.id)));
  const request = { teamId: environment.team_id, repos: environment.repos, saved, overrides };
  const content = await readContent(request, host.content, signal);
  for (const { repoUrl, commit } of content.commits) log(`Repository ${repoUrl} at ${commit}\n`);
  log(content.repoFile === null ? "Configuration of the environment\n" : `Configuration of ${content.repoFile.url}\n`);
  return content;
}

async function execute(
  { claimed, environment, secrets, log, host }: BuildContext,
  content: PreparedContent,
  signal: AbortSignal,
): Promise<BuildEnd> {
  const { repositories, config, contentKey } = content;
  const owner = { teamId: environment.team_id, userId: environment.user_id, settings: environment };
  const { db, settings } = host.platform;
  const { allowed: allowedHosts } = await readPolicy(db, {
    agent: owner,
    environment: config.egress,
    publicUrl: settings.publicUrl ?? "",
  });
  const order = {
    allowedHosts,
    buildId: claimed.buildId,
    environmentId: environment.id,
    teamId: environment.team_id,
    contentKey,
    config,
    secrets,
    repositories: repositories.map(({ url, name, files }) => ({ url, name, commit: files.commit })),
    async listFiles(listSignal: AbortSignal) {
      const lists = repositories.map(async ({ name, files }) =>
        (await files.list(listSignal)).map(({ path }) => `${name}/${path}`),
      );
      return (await Promise.all(lists)).flat();
    },
    async checkOut(directory: string, checkOutSignal: AbortSignal) {
      for (const { name, files } of repositories) await files.checkOut(`${directory}/${name}`, checkOutSignal);
    },
  };
  if (secrets.length > 0) log(`Secrets of this build: ${secrets.map(({ name }) => name).join(", ")}\n`);
  log(withheldSecrets(config, await host.singlePhaseNames(environment)));
  const outcome = await host.executor.execute(order, log, signal);
  return outcome.status === "succeeded"
    ? { status: "SUCCEEDED", output: outcome.output }
    : { status: "FAILED", failure: outcome.failure, output: outcome.output ?? null };
}

const isUserFacing = (error: unknown): error is Error =>
  error instanceof EnvironmentFault || error instanceof RepositoryFault || error instanceof ImageFault;

function failureOf(error: unknown, log: (text: string) => void): BuildEnd {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof EnvironmentFault) {
    log(`${message}\n`);
    return { status: "FAILED", failure: { type: "TERMINAL_FAILURE", code: "environment_json_invalid" }, output: null };
  }
  if (error instanceof RepositoryFault) {
    log(`${message}\n`);
    return { status: "FAILED", failure: { type: "TERMINAL_FAILURE", code: error.code }, output: null };
  }
  if (error instanceof ImageFault) {
    log(`${message}\n`);
    return { status: "FAILED", failure: { type: "TERMINAL_FAILURE", code: "image_failed" }, output: null };
  }
  if (isStorageFull(error)) {
    log("The disk of the server is full. Ask an administrator to free space, then trigger the build again.\n");
    return { status: "FAILED", failure: { type: "TERMINAL_FAILURE", code: "storage_full" }, output: null };
  }
  log(`The machine failed: ${message}\n`);
  return { status: "FAILED", failure: { type: "TERMINAL_FAILURE", code: "machine_failed" }, output: null };
}
