// The secrets that the commands of a run get: all of them on the platform; on a worker, what its operator lets it receive.
import { needsWorker, type Workers } from "../../fleet/index.ts";
import type { PlatformContext } from "../../foundation/index.ts";
import { type AgentSecret, recordToken } from "../../secrets/index.ts";
import type { ActiveRun } from "./records.ts";

interface SecretsOfAgent {
  secrets: AgentSecret[];
  host: SecretsHost;
}

interface SecretsHost {
  platform: Pick<PlatformContext, "db" | "log">;
  workers: Pick<Workers, "receives">;
  checkRepositories(userId: number | null, urls: string[], signal: AbortSignal): Promise<void>;
  mintToken(teamId: number, url: string, signal: AbortSignal): Promise<string | undefined>;
}

export async function secretsOfRun(
  activeRun: ActiveRun,
  { secrets, host }: SecretsOfAgent,
  signal: AbortSignal,
): Promise<AgentSecret[]> {
  const { agent, run } = activeRun;
  if (!needsWorker(agent.settings.env)) return secrets;
  const receives = await host.workers.receives(agent.id);
  // The token may push: not for a run that only reads, or only proposes.
  const mayPush = run.request.mode !== "plan" && agent.settings.effects === undefined;
  const token = receives.githubToken && mayPush ? await mintToken(activeRun, host, signal) : undefined;
  // Requests of a worker do not go through a proxy of the platform: nothing would put the value in.
  const given = secrets.filter(({ placeholder }) => placeholder === undefined);
  const kept = receives.secrets ? given : given.filter(({ isMinted }) => isMinted);
  return [...(token === undefined ? [] : tokenVariables(token)), ...kept];
}

/** Both names that programs read. Secrets of the same name win. */
const tokenVariables = (value: string): AgentSecret[] =>
  ["GH_TOKEN", "GITHUB_TOKEN"].map((name) => ({ name, value, type: "runtime_secret" }));

/** Undefined if there is none to be had: commands that need it say so themselves. */
async function mintToken(
  { agent, run, requester, key }: ActiveRun,
  host: SecretsHost,
  signal: AbortSignal,
): Promise<string | undefined> {
  const [repository] = agent.settings.repos;
  if (repository === undefined) return undefined;
  try {
    await host.checkRepositories(requester.userId, [repository.url], signal);
    const token = await host.mintToken(agent.teamId, repository.url, signal);
    if (token !== undefined) await recordToken(host.platform.db, { agent, key }, { name: "GH_TOKEN", value: token });
    return token;
  } catch (error) {
    host.platform.log.warn("run.token_not_minted", { runId: run.id, error: (error as Error).message });
    return undefined;
  }
}
