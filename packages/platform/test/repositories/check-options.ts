// Options for the checks of runs created by tests.
import type { Kysely } from "kysely";
import type { Tables } from "../../src/foundation/db/index.ts";
import { silentLog } from "../../src/foundation/telemetry/index.ts";
import type { CheckOptions } from "../../src/repositories/handoff/index.ts";
import type { SourceHosts } from "../../src/repositories/scm/index.ts";

/** The report text of a run is a constant; its content is tested elsewhere. */
export const checkOptions = ({ db }: { db: Kysely<Tables> }, sources: SourceHosts): CheckOptions => ({
  db,
  sources,
  log: silentLog,
  agentUrl: (agentId) => `https://platform.example/agents/${agentId}`,
  async readReport(runId) {
    const run = await db
      .selectFrom("runs")
      .innerJoin("agents", "agents.id", "runs.agent_id")
      .select(["agent_id", "runs.team_id", "status", "runs.created_at", "settings"])
      .where("runs.id", "=", runId)
      .executeTakeFirstOrThrow();
    const { agent_id: agentId, team_id: teamId, status, created_at: createdAt, settings } = run;
    const repositoryUrls = settings.repos.map(({ url }) => url);
    return { agentId, teamId, repositoryUrls, status, createdAt, endedAt: createdAt, text: "What it found" };
  },
});
