// Checks of runs that a test has made up.
import type { Kysely } from "kysely";
import type { Tables } from "../src/db/index.ts";
import type { CheckOptions } from "../src/handoff/index.ts";
import type { SourceHosts } from "../src/scm/index.ts";
import { silentLog } from "../src/telemetry/index.ts";

/** What runs say of themselves is for others to test. */
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
    return { agentId, teamId, repositoryUrls, status, createdAt, endedAt: createdAt, text: "What it said" };
  },
});
