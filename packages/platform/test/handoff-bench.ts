// Agents whose runs can be handed off: workspaces, the embedded host and a database, for one test file.
import { randomUUID } from "node:crypto";
import { writeFileSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { temporaryRepository } from "@agentcli/testkit";
import type { AgentRepository } from "../src/db/index.ts";
import { ownRepositories } from "../src/githost/index.ts";
import {
  type Diffs,
  type Handoff,
  openDiffs,
  openHandoff,
  type RunStory,
  showDueChecks,
} from "../src/handoff/index.ts";
import { openNetworkPolicy } from "../src/network/index.ts";
import { type Github, openSourceHosts, type PersonalAccess, type SourceHosts } from "../src/scm/index.ts";
import { openSigningKey } from "../src/signing/index.ts";
import { type AgentWork, type OpenWorkspace, openLocks, openWorkspaces, usualLimits } from "../src/workspaces/index.ts";
import { checkOptions } from "./check-options.ts";
import { identity, never, noRules } from "./git-bench.ts";
import { type HostBench, hostBench, userGit } from "./host-bench.ts";

export interface HandoffBench extends HostBench {
  served: string;
  sources: SourceHosts;
  /** Shows the checks that are due. */
  showChecks(): Promise<void>;
  handoff: Handoff;
  diffs: Diffs;
  /** A repository of the embedded host with one commit on main. */
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
  /** Ends a run with this result and hands it off. */
  finish(result: string, more?: Partial<RunStory>): Promise<Awaited<ReturnType<Handoff["finish"]>>>;
  /** The same, without handing it off. */
  end(result: string, more?: Partial<RunStory>): Promise<{ runId: string; story: RunStory }>;
  /** Hands off the last run again. */
  again(): ReturnType<Handoff["finish"]>;
}

export interface HandoffBenchOptions {
  github?: Github;
  /** Who reviews, by their names on the host. */
  reviewers?: string[];
  /** In whose name pull requests are opened, where that is not the platform's. */
  person?: PersonalAccess;
}

export async function handoffBench(options: HandoffBenchOptions = {}): Promise<HandoffBench> {
  const bench = await hostBench();
  const served = join(bench.data, "served");
  await mkdir(served);
  const policy = openNetworkPolicy({ allowPrivate: ["127.0.0.0/8"] });
  const sources = openSourceHosts({
    policy,
    sshDirectory: join(bench.data, "ssh"),
    own: ownRepositories(bench.host),
    rules: noRules,
    github: options.github ?? null,
  });
  const workspaces = openWorkspaces({
    dataDirectory: bench.data,
    sources,
    locks: openLocks(bench.db),
    limits: usualLimits,
    identity,
  });
  const stories = new Map<string, RunStory>();
  const readStory = async (runId: string) => stories.get(runId) ?? noStory(runId);
  const signingKey = openSigningKey({ path: join(bench.data, "signing-key"), isGiven: false });
  const handoff = openHandoff({
    db: bench.db,
    workspaces,
    sources,
    identity,
    signingKey,
    readStory,
    reviewersOf: async () => options.reviewers ?? [],
    personOf: async () => options.person ?? null,
  });

  return {
    ...bench,
    served,
    sources,
    showChecks: () => showDueChecks(checkOptions(bench, sources), never()),
    handoff,
    diffs: openDiffs({ db: bench.db, workspaces, sources }),
    async shop(files = { "README.md": "# Shop\n" }) {
      const origin = await temporaryRepository(files);
      const name = `shop-${randomUUID().slice(0, 8)}`;
      const { directory } = await bench.host.repositories.create(
        { teamId: bench.teamId, name, from: origin.path },
        never(),
      );
      await origin.remove();
      return { name, url: bench.host.cloneUrl(name), directory, git: (...args) => userGit(directory, ...args) };
    },
    async agent(repos, more = {}) {
      const id = `bc-${randomUUID()}`;
      const { key, wrapped } = await bench.vault.newDataKey();
      const settings = { mode: "agent", repos, workOnCurrentBranch: false, autoCreatePR: true };
      await bench.db
        .insertInto("agents")
        .values({
          id,
          team_id: bench.teamId,
          name: key.seal("n", "n"),
          data_key: wrapped,
          settings: JSON.stringify(settings),
          private_settings: key.seal("{}", "p"),
          source: "API",
        })
        .execute();
      const work = {
        agentId: id,
        teamId: bench.teamId,
        name: "Fix the failing test",
        repos,
        workOnCurrentBranch: false,
        ...more,
      };
      const workspace = await workspaces.open(work, never());
      const runs: string[] = [];
      const results: string[] = [];
      const again = () => handoff.finish(runs.at(-1) ?? "", never());
      async function end(result: string, changes: Partial<RunStory> = {}) {
        const runId = `run-${randomUUID()}`;
        runs.push(runId);
        results.push(result);
        const row = { id: runId, agent_id: id, team_id: bench.teamId, number: runs.length, request: Buffer.alloc(1) };
        await bench.db
          .insertInto("runs")
          .values({ ...row, status: "FINISHED" })
          .execute();
        await bench.db.updateTable("agents").set({ latest_run_id: runId }).where("id", "=", id).execute();
        const story: RunStory = {
          agentId: id,
          teamId: bench.teamId,
          name: work.name,
          results: [...results],
          endedAt: new Date("2026-01-02T03:04:05.678Z"),
          autoCreatePR: true,
          opensAsApp: true,
          asksForReview: true,
          onBehalfOf: { name: "Ada", email: "ada@example.com" },
          ...changes,
        };
        stories.set(runId, story);
        return { runId, story };
      }
      return {
        id,
        workspace,
        again,
        end,
        async finish(result, changes) {
          await end(result, changes);
          return again();
        },
      };
    },
  };
}

function noStory(runId: string): never {
  throw new Error(`There is no run ${runId}.`);
}

export const write = (root: string, name: string, text: string): void => writeFileSync(join(root, name), text);

/** The only branch of an agent there. */
export const agentBranch = (directory: string): Promise<string> =>
  userGit(directory, "for-each-ref", "--format=%(refname:short)", "refs/heads/platform/");

/** On that branch. */
export const shopFiles = async (directory: string): Promise<string> =>
  userGit(directory, "ls-tree", "-r", "--name-only", await agentBranch(directory));
