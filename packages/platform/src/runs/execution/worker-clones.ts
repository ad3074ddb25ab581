// What a worker may clone itself for a run: the repositories of an agent that begins, each with a token that reads it alone.
import { relative } from "node:path";
import { type ClonableRepository, needsWorker } from "../../fleet/index.ts";
import type { PlatformContext } from "../../foundation/index.ts";
import { listStartingFiles, type OpenWorkspace } from "../../repositories/index.ts";
import { recordToken } from "../../secrets/index.ts";
import { agentPaths } from "./agent-paths.ts";
import type { ActiveRun } from "./records.ts";
import type { RunHost } from "./run-host.ts";

export type CloningHost = Pick<RunHost, "checkRepositories" | "cloneAccess">;

interface CloningRun {
  claimed: { status: string };
  activeRun: ActiveRun;
  host: CloningHost & { platform: PlatformContext };
}

/** Empty for an agent that may have changed files: its worker gets them as they are here. */
export async function findClonable(
  { repositories }: OpenWorkspace,
  run: CloningRun,
  signal: AbortSignal,
): Promise<ClonableRepository[]> {
  if (run.claimed.status === "RUNNING" || !(await isFirstRun(run))) return [];
  const found = await Promise.all(repositories.map((repository) => clonable(repository, run, signal)));
  return found.filter((repository) => repository !== null);
}

async function isFirstRun({ activeRun: { agent, run }, host }: CloningRun): Promise<boolean> {
  const { db } = host.platform;
  const others = db.selectFrom("runs").select("id").where("agent_id", "=", agent.id).where("id", "!=", run.id);
  return needsWorker(agent.settings.env) && (await others.limit(1).execute()).length === 0;
}

/** Null if it cannot be cloned elsewhere, or its requester may not. */
async function clonable(
  repository: OpenWorkspace["repositories"][number],
  { activeRun, host }: CloningRun,
  signal: AbortSignal,
): Promise<ClonableRepository | null> {
  const { agent, run, requester, key } = activeRun;
  const { branch, baseCommit: commit } = repository;
  const { directory } = agentPaths(host.platform.settings.dataDirectory, agent.directory);
  const name = relative(directory, repository.path);
  if (name.includes("/")) return null;
  try {
    await host.checkRepositories(requester.userId, [repository.url], signal);
    const access = await host.cloneAccess(agent.teamId, repository.url, signal);
    if (access === null || !/^https?:/.test(access.url)) return null;
    const { url, token } = access;
    if (token !== undefined) await recordToken(host.platform.db, { agent, key }, { name: "clone token", value: token });
    const files = (await listStartingFiles(repository, signal)).map(({ path }) => Buffer.from(path).toString("latin1"));
    return { name, url, branch, commit, files, ...(token !== undefined && { token }) };
  } catch (error) {
    host.platform.log.warn("run.not_clonable", { runId: run.id, error: (error as Error).message });
    return null;
  }
}
