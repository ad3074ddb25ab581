// Agents whose runs can be handed off: workspaces, the embedded git host and a database, for one test file.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryRepository } from "@agentcli/testkit";
import type { AgentRepository } from "../../src/foundation/db/index.ts";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { ownRepositories } from "../../src/repositories/githost/index.ts";
import {
  type Diffs,
  findPushed,
  type Handoff,
  openDiffs,
  openHandoff,
  type RunSummary,
  showDueChecks,
} from "../../src/repositories/handoff/index.ts";
import {
  type Github,
  openSourceHosts,
  type PersonalAccess,
  type SourceHosts,
} from "../../src/repositories/scm/index.ts";
import { openSigningKey } from "../../src/repositories/signing/index.ts";
import {
  type AgentWork,
  defaultLimits,
  type OpenWorkspace,
  openLocks,
  openWorkspaces,
  type Workspaces,
} from "../../src/repositories/workspaces/index.ts";
import { checkOptions } from "./check-options.ts";
import { identity, never, noRules } from "./git-harness.ts";
import { type GitHostHarness, openGitHostHarness, userGit } from "./git-host-harness.ts";

export interface HandoffHarness extends GitHostHarness {
  served: string;
  sources: SourceHosts;
  /** Creates and updates the checks that are due. */
  showChecks(): Promise<void>;
  workspaces: Workspaces;
  handoff: Handoff;
  diffs: Diffs;
  /** Creates a repository on the embedded host with one commit on main. */
  shop(files?: Record<string, string>): Promise<Shop>;
  agent(repos: AgentRepository[], more?: Partial<AgentWork>): Promise<TestAgent>;
}

export interface Shop {
  name: string;
  url: string;
  directory: string;
  git(...args: string[]): Promise<string>;
}

export interface TestAgent {
  id: string;
  workspace: OpenWorkspace;
  /** As a follow-up does. */
  open(): Promise<OpenWorkspace>;
  /** Begins a run, which `finish` or `end` ends; they begin one themselves otherwise. */
  begin(): Promise<void>;
  /** Ends a run with this result and hands it off. */
  finish(result: string, more?: Partial<RunSummary>): Promise<Awaited<ReturnType<Handoff["publish"]>>>;
  /** Ends a run without handing it off. */
  end(result: string, more?: Partial<RunSummary>): Promise<{ runId: string; summary: RunSummary }>;
  /** Hands off the last run again. */
  again(): ReturnType<Handoff["publish"]>;
}

export interface HandoffHarnessOptions {
  github?: Github;
  /** Reviewers, by their names on the host. */
  reviewers?: string[];
  /** The user who opens pull requests; the platform by default. */
  person?: PersonalAccess;
}

export async function openHandoffHarness(options: HandoffHarnessOptions = {}): Promise<HandoffHarness> {
  const harness = await openGitHostHarness();
  const served = join(harness.data, "served");
  await mkdir(served);
  const policy = openNetworkPolicy({ allowPrivate: ["127.0.0.0/8"] });
  const sources = openSourceHosts({
    policy,
    sshDirectory: join(harness.data, "ssh"),
    own: ownRepositories(harness.host),
    rules: noRules,
    github: options.github ?? null,
  });
  const workspaces = openWorkspaces({
    dataDirectory: harness.data,
    sources,
    locks: openLocks(harness.db),
    limits: defaultLimits,
    identity,
    findPushed: (agentId, url) => findPushed(harness.db, { agentId, repoUrl: sources.shown(url) }),
  });
  const summaries = new Map<string, RunSummary>();
  const readSummary = async (runId: string) => summaries.get(runId) ?? missingRun(runId);
  const signingKey = openSigningKey({ path: join(harness.data, "signing-key"), isGiven: false });
  const handoff = openHandoff({
    db: harness.db,
    vault: harness.vault,
    workspaces,
    sources,
    identity,
    signingKey,
    readSummary,
    reviewersOf: async () => options.reviewers ?? [],
    personOf: async () => options.person ?? null,
  });

  return {
    ...harness,
    served,
    sources,
    showChecks: () => showDueChecks(checkOptions(harness, sources), never()),
    workspaces,
    handoff,
    diffs: openDiffs({ db: harness.db, workspaces, sources }),
    async shop(files = { "README.md": "# Shop\n" }) {
      const origin = await temporaryRepository(files);
      const name = `shop-${randomUUID().slice(0, 8)}`;
      const { directory } = await harness.host.repositories.create(
        { teamId: harness.teamId, name, from: origin.path },
        never(),
      );
      await origin.remove();
      return { name, url: harness.host.cloneUrl(name), directory, git: (...args) => userGit(directory, ...args) };
    },
    async agent(repos, more = {}) {
      const id = `bc-${randomUUID()}`;
      const { key, wrapped } = await harness.vault.newDataKey();
      const settings = { mode: "agent", repos, workOnCurrentBranch: false, autoCreatePR: true };
      await harness.db
        .insertInto("agents")
        .values({
          id,
          directory: id,
          team_id: harness.teamId,
          name: key.seal("n", "n"),
          data_key: wrapped,
          settings: JSON.stringify(settings),
          private_settings: key.seal("{}", "p"),
          source: "API",
        })
        .execute();
      const work = {
        agentId: id,
        directory: id,
        teamId: harness.teamId,
        name: "Fix the failing test",
        repos,
        workOnCurrentBranch: false,
        ...more,
      };
      const workspace = await workspaces.open(work, never());
      const runs: string[] = [];
      const results: string[] = [];
      const again = () => handoff.publish(runs.at(-1) ?? "", never());
      let begun: string | null = null;
      async function addRun(): Promise<string> {
        const runId = `run-${randomUUID()}`;
        runs.push(runId);
        const row = { id: runId, agent_id: id, team_id: harness.teamId, number: runs.length, request: Buffer.alloc(1) };
        await harness.db
          .insertInto("runs")
          .values({ ...row, status: "FINISHED", started_at: new Date() })
          .execute();
        await harness.db.updateTable("agents").set({ latest_run_id: runId }).where("id", "=", id).execute();
        return runId;
      }
      async function end(result: string, changes: Partial<RunSummary> = {}) {
        const runId = begun ?? (await addRun());
        begun = null;
        results.push(result);
        const summary: RunSummary = {
          agentId: id,
          teamId: harness.teamId,
          name: work.name,
          results: [...results],
          commands: [],
          endedAt: new Date("2026-01-02T03:04:05.678Z"),
          autoCreatePR: true,
          opensAsApp: true,
          asksForReview: true,
          secrets: [],
          onBehalfOf: { name: "Ada", email: "ada@example.com" },
          ...changes,
        };
        summaries.set(runId, summary);
        return { runId, summary };
      }
      return {
        id,
        workspace,
        open: () => workspaces.open(work, never()),
        again,
        async begin() {
          begun = await addRun();
          await handoff.begin({ agentId: id, runId: begun, workspace }, never());
        },
        end,
        async finish(result, changes) {
          await end(result, changes);
          return again();
        },
      };
    },
  };
}

function missingRun(runId: string): never {
  throw new Error(`There is no run ${runId}.`);
}

export const write = (root: string, name: string, text: string): void => writeFileSync(join(root, name), text);

/** The only agent branch of a repository. */
export const agentBranch = (directory: string): Promise<string> =>
  userGit(directory, "for-each-ref", "--format=%(refname:short)", "refs/heads/platform/");

/** The files on that branch. */
export const shopFiles = async (directory: string): Promise<string> =>
  userGit(directory, "ls-tree", "-r", "--name-only", await agentBranch(directory));
