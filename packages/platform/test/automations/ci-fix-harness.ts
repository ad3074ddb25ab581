// An agent with a pull request, the checks on it, and what people do there.
import { recordHostEvent } from "../../src/automations/inbound/own-host.ts";
import { processEvents } from "../../src/automations/inbound/process.ts";
import { wakeAgents } from "../../src/automations/subscriptions/wake.ts";
import { changeTeamSettings } from "../../src/identity/settings/index.ts";
import { type AutomationHarness, openAutomationHarness } from "./automation-harness.ts";

export const repoUrl = "https://git.example.com/acme/shop";
export const pullUrl = `${repoUrl}/pull/7`;
export const branch = "agents/fix-it";
export const [first, second, foreign] = ["1".repeat(40), "2".repeat(40), "9".repeat(40)];

export interface Fixing extends Omit<AutomationHarness, "close"> {
  agentId: string;
  /** A status of a check on a commit, as a CI system reports it. */
  check(state: string, options?: { commit?: string; on?: string; name?: string }): Promise<void>;
  /** All checks of an app, as GitHub reports them: without the name of a check. */
  suite(conclusion: string, options?: { commit?: string; on?: string }): Promise<void>;
  comment(text: string, sender?: string): Promise<void>;
  close(merged: boolean): Promise<void>;
  reopen(): Promise<void>;
  /** Ends what is active, waits until events come no more together, and wakes. */
  wake(): Promise<void>;
  /** How many follow-ups the agent got by itself. */
  fixes(): Promise<number>;
  /** The agent pushes another commit. */
  push(commit: string): Promise<void>;
}

export const appId = 4711;
export const suiteOf = (conclusion: string, { commit = first, on = branch } = {}) => ({
  ...{ action: "completed", sender: { login: "ci", type: "User" } },
  check_suite: { conclusion, head_sha: commit, head_branch: on, app: { id: appId, name: "GitHub Actions" } },
});

export async function openFixing(): Promise<Fixing> {
  const harness = await openAutomationHarness("2026-03-02T08:00:00Z");
  const { platform, principal, newAgent } = harness.fixture;
  const { db, vault } = platform;
  let seconds = 0;
  const pass = (more: number) => {
    seconds += more;
    harness.setClock(new Date(Date.parse("2026-03-02T08:00:00Z") + seconds * 1000).toISOString());
  };
  const { agentId, runId } = await newAgent();
  const shared = { agent_id: agentId, repo_url: "git.example.com/acme/shop", run_id: runId, branch, pr_url: pullUrl };
  const base = { base_branch: "main", base_commit: "0".repeat(40), state: "done" as const };
  await db
    .insertInto("handoffs")
    .values({ ...shared, ...base, pushed_commit: first })
    .execute();
  const noted = { repo_url: shared.repo_url, state: "ended" as const };
  await db
    .insertInto("handoff_checks")
    .values({ ...noted, run_id: runId, commit_name: first })
    .execute();
  const record = async (name: string, payload: object) => {
    const repository = { html_url: repoUrl };
    await recordHostEvent(vault)(db, {
      ...{ teamId: principal.teamId, name: name as "status" },
      payload: { repository, ...payload },
    });
    await processEvents(harness.host);
    pass(1);
  };
  const endRuns = () => db.updateTable("runs").set({ status: "FINISHED" }).execute();
  await endRuns();
  return {
    ...harness,
    agentId,
    check: (state, { commit = first, on = branch, name = "test" } = {}) =>
      record("status", {
        ...{ state, sha: commit, context: name, description: "2 of 30 failed", branches: [{ name: on }] },
        sender: { login: "ci", type: "User" },
      }),
    suite: (conclusion, options) => record("check_suite", suiteOf(conclusion, options)),
    close: (merged) =>
      record("pull_request", { action: "closed", pull_request: { number: 7, html_url: pullUrl, merged } }),
    reopen: () => record("pull_request", { action: "reopened", pull_request: { number: 7, html_url: pullUrl } }),
    comment: (body, sender = "ada") =>
      record("issue_comment", {
        ...{ action: "created", comment: { body }, sender: { login: sender, type: "User" } },
        issue: { number: 7, html_url: pullUrl, pull_request: {} },
      }),
    async wake() {
      pass(20);
      await wakeAgents(harness.host);
      await endRuns();
    },
    async fixes() {
      const runs = await db.selectFrom("runs").select("request_id").where("agent_id", "=", agentId).execute();
      return runs.filter(({ request_id }) => request_id?.startsWith("wake-")).length;
    },
    async push(commit) {
      await db.updateTable("handoffs").set({ pushed_commit: commit }).execute();
      const latest = await db.selectFrom("agents").select("latest_run_id").executeTakeFirstOrThrow();
      const run_id = latest.latest_run_id ?? "";
      await db
        .insertInto("handoff_checks")
        .values({ ...noted, run_id, commit_name: commit })
        .onConflict((conflict) => conflict.doNothing())
        .execute();
    },
  };
}

export const turnOff = ({ platform: { db }, principal }: AutomationHarness["fixture"]) =>
  db.transaction().execute((tx) => changeTeamSettings(tx, principal.teamId, { autofix: false }));
