// Reads agents with what belongs to them: a fixed number of queries, however many agents a page has.
import type {
  AgentDetails,
  AgentGroup,
  AgentOverview,
  AgentOverviewPage,
  PullRequestLink,
  Run,
  RunWithPrompt,
} from "@agentcli/protocol/api";
import { toCents } from "@agentcli/protocol/money";
import { sql } from "kysely";
import {
  type DataKey,
  decodeCursor,
  encodeCursor,
  type HandoffTable,
  type PlatformContext,
} from "../../foundation/index.ts";
import type { Principal } from "../../identity/index.ts";
import { type GitHost, readPullRequestLinks } from "../../repositories/index.ts";
import { type RunRequest, requestAad, shownArtifacts } from "../../runs/index.ts";
import type { AgentAccess } from "../access.ts";
import { readGit } from "../store.ts";
import { agentOf, type ListedAgent, listItemOf, type RunRow, runOf } from "../views/views.ts";
import { readOwners } from "./owners.ts";
import { readPermissions } from "./permissions.ts";

export interface OverviewHost {
  platform: PlatformContext;
  access: AgentAccess;
  githost: GitHost;
  publicUrl(): string;
}

export interface OverviewRequest {
  limit: number;
  cursor?: string | undefined;
  includeArchived: boolean;
  includeSdk: boolean;
}

export async function readOverview(
  host: OverviewHost,
  principal: Principal,
  { limit, cursor, includeArchived, includeSdk }: OverviewRequest,
): Promise<AgentOverviewPage> {
  const filter = { limit, includeArchived, after: decodeCursor(cursor), ...(!includeSdk && { exceptSource: "SDK" }) };
  const { agents, next } = await host.access.list(principal, filter);
  const items = await describeAgents(host, principal, agents);
  return { items, ...(next && { nextCursor: encodeCursor(next) }) };
}

/** `agents` are some that the principal may read. */
export async function describeAgents(
  host: OverviewHost,
  principal: Principal,
  agents: ListedAgent[],
): Promise<AgentOverview[]> {
  const about = await readAbout(host, principal, agents);
  return Promise.all(
    agents.map(async (row) => {
      const key = await host.platform.vault.unwrap(row.data_key);
      return { ...listItemOf(row, key, host.publicUrl()), ...about(row, key) };
    }),
  );
}

const maxRuns = 100;

/** `row` is one that the principal may read. */
export async function readDetails(host: OverviewHost, principal: Principal, row: ListedAgent): Promise<AgentDetails> {
  const { platform, access, publicUrl } = host;
  const key = await platform.vault.unwrap(row.data_key);
  const shown = (await readAbout(host, principal, [row]))(row, key);
  const context = { db: platform.db, access, principal };
  return {
    ...agentOf(row, key, publicUrl()),
    ...shown,
    permissions: await readPermissions(context, row, shown.owner),
    runs: await readRuns(platform, row, key),
    artifacts: await shownArtifacts(platform, row),
  };
}

async function readRuns({ db }: PlatformContext, { id }: ListedAgent, key: DataKey): Promise<RunWithPrompt[]> {
  const git = await readGit(db, id, key);
  const rows = await db
    .selectFrom("runs")
    .selectAll()
    .where("agent_id", "=", id)
    .orderBy("number", "desc")
    .limit(maxRuns)
    .execute();
  return rows.map((row) => ({ ...runOf(row, key, git), prompt: promptOf(row, key), ...costOf(row.cost_usd) }));
}

const promptOf = ({ id, request }: RunRow, key: DataKey): string =>
  (JSON.parse(key.openText(request, requestAad(id))) as RunRequest).prompt.text;

const costOf = (usd: string | null): Pick<AgentOverview, "cost"> => {
  if (usd === null) return {};
  const cents = toCents(Number(usd));
  return { cost: { rawCostCents: cents, chargedCents: cents } };
};

type About = Pick<
  AgentOverview,
  "group" | "owner" | "source" | "latestRun" | "branch" | "lines" | "pullRequests" | "cost"
>;

/** What the list shows of each agent beside the agent itself. */
async function readAbout(
  { platform: { db }, githost }: OverviewHost,
  principal: Principal,
  agents: ListedAgent[],
): Promise<(row: ListedAgent, key: DataKey) => About> {
  const ids = agents.map(({ id }) => id);
  const ownerOf = await readOwners(db, principal, agents);
  const runs = await readLatestRuns(db, agents);
  const costs = await readCosts(db, ids);
  const handoffs = await readHandoffs(db, ids);
  const urls = handoffs.flatMap(({ pr_url }) => pr_url ?? []);
  const links = await readPullRequestLinks({ db, githost }, principal.teamId, urls);
  return (row, key) => {
    const run = runs.get(row.latest_run_id ?? "");
    const own = handoffs.filter(({ agent_id }) => agent_id === row.id);
    const pullRequests = own.flatMap(({ pr_url }) => (pr_url === null ? [] : (links.get(pr_url) ?? { url: pr_url })));
    const branch = own.find(({ pushed_commit }) => pushed_commit !== null)?.branch;
    return {
      group: groupOf(run, pullRequests),
      owner: ownerOf(row),
      source: row.source,
      ...(run && { latestRun: latestOf(runOf(run, key, null)) }),
      ...(branch !== undefined && { branch }),
      ...linesOf(own),
      pullRequests,
      ...costOf(costs.get(row.id) ?? null),
    };
  };
}

type HandoffLines = Pick<HandoffTable, "lines_added" | "lines_removed">;

function linesOf(handoffs: HandoffLines[]): Pick<AgentOverview, "lines"> {
  const counted = handoffs.filter(({ lines_added }) => lines_added !== null);
  if (counted.length === 0) return {};
  const sum = (name: keyof HandoffLines) => counted.reduce((total, row) => total + (row[name] ?? 0), 0);
  return { lines: { added: sum("lines_added"), removed: sum("lines_removed") } };
}

const latestOf = ({
  id,
  status,
  createdAt,
  durationMs,
  model,
  error,
}: Run): NonNullable<AgentOverview["latestRun"]> => ({
  id,
  status,
  createdAt,
  ...(durationMs !== undefined && { durationMs }),
  ...(model && { model }),
  ...(error && { error }),
});

function groupOf(run: RunRow | undefined, pulls: PullRequestLink[]): AgentGroup {
  if (run?.status === "CREATING" || run?.status === "RUNNING") return "running";
  if (run?.status === "ERROR" || run?.status === "EXPIRED") return "needs_you";
  return pulls.some(({ state }) => state === "draft" || state === "open") ? "needs_you" : "finished";
}

type Database = PlatformContext["db"];

async function readLatestRuns(db: Database, agents: ListedAgent[]): Promise<Map<string, RunRow>> {
  const ids = agents.flatMap(({ latest_run_id }) => latest_run_id ?? []);
  if (ids.length === 0) return new Map();
  const rows = await db.selectFrom("runs").selectAll().where("id", "in", ids).execute();
  return new Map(rows.map((row) => [row.id, row]));
}

/** Of all ended runs; without one that has ended, or with a price that is not known, there is no sum. */
async function readCosts(db: Database, ids: string[]): Promise<Map<string, string | null>> {
  if (ids.length === 0) return new Map();
  const rows = await db
    .selectFrom("runs")
    .select(["agent_id", sql<string | null>`case when bool_and(cost_usd is not null) then sum(cost_usd) end`.as("usd")])
    .where("agent_id", "in", ids)
    .where("ended_at", "is not", null)
    .groupBy("agent_id")
    .execute();
  return new Map(rows.map(({ agent_id, usd }) => [agent_id, usd]));
}

async function readHandoffs(db: Database, ids: string[]) {
  if (ids.length === 0) return [];
  return db
    .selectFrom("handoffs")
    .select(["agent_id", "branch", "pushed_commit", "pr_url", "lines_added", "lines_removed"])
    .where("agent_id", "in", ids)
    .orderBy("repo_url")
    .execute();
}
