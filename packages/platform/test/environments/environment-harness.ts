// A server whose environments are built in directories, with repositories that can be pushed to.
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import type { Build, BuildPage, Environment } from "@agentcli/protocol/api";
import type { Reply } from "@agentcli/testkit";
import { type DirectoryExecutor, openDirectoryExecutor } from "@agentcli/testkit/platform";
import { expect, onTestFinished } from "vitest";
import type { Settings } from "../../src/foundation/config/index.ts";
import type { Log } from "../../src/foundation/telemetry/index.ts";
import { openRunHarness, type RunHarness } from "../runs/run-harness.ts";

export interface EnvironmentHarness extends RunHarness {
  executor: DirectoryExecutor;
  create(name: string, options?: { repos?: string[]; config?: object; owner?: string }): Promise<Environment>;
  builds(environmentId: string): Promise<Build[]>;
  trigger(environmentId: string, body?: object): Promise<Build>;
  /** Once it has ended. */
  ended(build: Pick<Build, "id" | "environmentId">): Promise<Build>;
  log(build: Pick<Build, "id" | "environmentId">): Promise<string>;
  active(environmentId: string): Promise<string | undefined>;
  /** A recurring build is due now. */
  makeDue(environmentId: string): Promise<void>;
  /** Adds a commit to `main`. */
  commit(url: string, files: Record<string, string>): Promise<void>;
}

export interface EnvironmentHarnessOptions {
  replies?: Reply[];
  settings?: Partial<Settings>;
  /** Absent: one that runs real processes in directories. "machines": the server's own. */
  executor?: DirectoryExecutor | "machines" | null;
  log?: Log;
}

const roles: Settings["roles"] = ["api", "runner", "scheduler"];

export async function openEnvironmentHarness({
  replies = [{ messages: ["done"] }],
  settings,
  executor: given,
  log,
}: EnvironmentHarnessOptions = {}): Promise<EnvironmentHarness> {
  const directory = mkdtempSync(join(tmpdir(), "builds-"));
  const executor =
    given === null || given === undefined || given === "machines" ? openDirectoryExecutor(directory) : given;
  const attachments = given === "machines" ? {} : { buildExecutor: given === null ? null : executor };
  const options = { replies: { replies, repeat: "always" as const }, settings: { roles, ...settings }, attachments };
  const harness = await openRunHarness(options, log);
  onTestFinished(() => rm(directory, { recursive: true, force: true }));
  const { client, fixture } = harness;
  const pathOf = ({ id, environmentId }: Pick<Build, "id" | "environmentId">) =>
    `/v1/environments/${environmentId}/builds/${id}`;
  return {
    ...harness,
    executor,
    async create(name, { repos = [], config = {}, owner = "team" } = {}) {
      const urls = repos.map((url) => ({ url }));
      const body = { owner, name, repos: urls, environmentJson: JSON.stringify(config) };
      const answer = await client.post("/v1/environments", body);
      expect(answer.status, answer.text).toBe(201);
      return answer.body as Environment;
    },
    builds: async (id) => (await client.getJson<typeof BuildPage._output>(`/v1/environments/${id}/builds`)).items,
    async trigger(id, body) {
      const answer = await client.post(`/v1/environments/${id}/builds`, body);
      expect(answer.status, answer.text).toBe(201);
      return answer.body as Build;
    },
    async ended(build) {
      await expect
        .poll(async () => (await client.getJson<Build>(pathOf(build))).status, { timeout: 120_000 })
        .not.toBe("IN_PROGRESS");
      return client.getJson<Build>(pathOf(build));
    },
    log: async (build) => (await client.get(`${pathOf(build)}/logs`)).text,
    active: async (id) => (await client.getJson<{ buildId?: string }>(`/v1/environments/${id}/builds/active`)).buildId,
    async makeDue(id) {
      const row = { next_build_at: new Date(0) };
      await fixture.platform.db.updateTable("environments").set(row).where("id", "=", id).execute();
    },
    commit: (url, files) => pushCommit({ url, key: fixture.key, directory: join(directory, "push") }, files),
  };
}

const run = promisify(execFile);

async function pushCommit(
  { url, key, directory }: { url: string; key: string; directory: string },
  files: Record<string, string>,
): Promise<void> {
  const header = `http.extraHeader=Authorization: Basic ${Buffer.from(`${key}:`).toString("base64")}`;
  const person = ["-c", "user.name=Test", "-c", "user.email=test@example.com", "-c", "commit.gpgSign=false"];
  const git = (...args: string[]) => run("git", ["-c", header, ...person, ...args]);
  await rm(directory, { recursive: true, force: true });
  await git("clone", "--quiet", url, directory);
  for (const [name, text] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), text);
  }
  await git("-C", directory, "add", "--all");
  await git("-C", directory, "commit", "--quiet", "--message=Change");
  await git("-C", directory, "push", "--quiet", "origin", "HEAD:main");
}
