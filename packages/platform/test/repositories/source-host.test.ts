// One suite for every source host: the contract of the port, tested on each.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryRepository } from "@agentcli/testkit";
import { startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openNetworkPolicy } from "../../src/foundation/network/index.ts";
import { runGit } from "../../src/repositories/git/index.ts";
import { ownRepositories } from "../../src/repositories/githost/index.ts";
import {
  type CheckState,
  openGithub,
  openSourceHosts,
  type PersonalAccess,
  readAdvertisement,
  type SourceHost,
} from "../../src/repositories/scm/index.ts";
import { type GitHarness, never, noRules, openGitHarness } from "./git-harness.ts";
import { type GitHostHarness, openGitHostHarness } from "./git-host-harness.ts";
import { serveDaemon, serveHttp } from "./git-servers.ts";
import { githubSettings } from "./github-settings.ts";

interface Candidate {
  host: SourceHost;
  /** A user known to the host; null if it has no users. */
  person: PersonalAccess | null;
  /** Checks on commits: key, conclusion and summary of each. Null if the host has none. */
  checks: (() => string[]) | null;
  close(): Promise<unknown>;
}

const candidates: [string, () => Promise<Candidate>][] = [
  ["the embedded host", embedded],
  ["plain git over HTTP", () => plain(serveHttp)],
  ["plain git over its own protocol", () => plain(serveDaemon)],
  ["GitHub", github],
];

describe.each(candidates)("%s", (_name, open) => {
  let candidate: Candidate;
  let local: Awaited<ReturnType<typeof temporaryRepository>>;

  beforeAll(async () => {
    candidate = await open();
    local = await temporaryRepository();
    const tip = (await readAdvertisement(candidate.host, 30_000, never())).references.get("refs/heads/main");
    await candidate.host.reach((remote) => git(["fetch", "--quiet", "--", remote.address, "main"], remote), never());
    await local.git("reset", "--quiet", "--hard", tip ?? "");
    for (const branch of ["one", "two"]) {
      await local.git("commit", "--quiet", "--allow-empty", `--message=${branch}`);
      await candidate.host.reach(
        (remote) => git(["push", "--quiet", "--", remote.address, `HEAD:refs/heads/${branch}`], remote),
        never(),
      );
    }
    await candidate.host.notePush();
  });
  afterAll(async () => {
    await local.remove();
    await candidate.close();
  });

  const git = (args: string[], remote: Parameters<Parameters<SourceHost["reach"]>[0]>[0]) =>
    runGit({ location: { directory: join(local.path, ".git") }, args, remote }, never());

  test("lists its branches and its default branch", async () => {
    const { defaultBranch, references } = await readAdvertisement(candidate.host, 30_000, never());
    expect(defaultBranch).toBe("main");
    expect(references.get("refs/heads/two")).toBe((await local.git("rev-parse", "HEAD")).trim());
  });

  test("restricts git to one protocol", async () => {
    const protocol = await candidate.host.reach(async (remote) => remote.protocol, never());
    expect(["file", "http", "git"]).toContain(protocol);
  });

  test("has pull requests that fulfil the contract, or none", async () => {
    const { pullRequests } = candidate.host;
    if (pullRequests === null) return expect(candidate.host.directory).toBeNull();
    const branches = { head: "one", base: "main" };
    expect(await pullRequests.find(branches, never())).toBeUndefined();
    const draft = { ...branches, title: "Title", body: "Body", noDraftNote: "Note", author: "agent:x", opener: null };
    const opened = await pullRequests.openDraft(draft, never());
    expect(opened).toMatchObject({ ...branches, title: "Title", body: "Body", state: "open", isDraft: true });
    expect(await pullRequests.openDraft({ ...draft, title: "Another" }, never())).toEqual(opened);
    expect(await pullRequests.find(branches, never())).toEqual(opened);
    expect(await pullRequests.read(opened.url, never())).toEqual(opened);
    expect(await pullRequests.read(`${opened.url}9`, never())).toBeUndefined();
    expect(await pullRequests.read("https://elsewhere.example/o/r/pull/1", never())).toBeUndefined();
    expect(await pullRequests.update(opened.number, { body: "New" }, never())).toMatchObject({
      title: "Title",
      body: "New",
    });
    await pullRequests.comment(opened.number, { author: "a", body: "Whole" }, never());
    await pullRequests.comment(opened.number, { author: "a", body: "Line", path: "README.md", line: 1 }, never());
    const comments = [{ path: "README.md", line: 1, body: "Line" }];
    await pullRequests.review(opened.number, { author: "a", verdict: "commented", body: "Fine", comments }, never());
    await pullRequests.requestReviewers(opened.number, ["b"], never());
    await expect(pullRequests.openDraft({ ...draft, head: "none" }, never())).rejects.toMatchObject({
      code: "pull_request_failed",
    });
  });

  test("finds a pull request of any author, and opens one as a user", async () => {
    const { pullRequests } = candidate.host;
    if (pullRequests === null) return expect(candidate.person).toBeNull();
    const branches = { head: "two", base: "main" };
    const draft = { ...branches, title: "Title", body: "Body", noDraftNote: "Note", author: "agent:x" };
    const opened = await pullRequests.openDraft({ ...draft, opener: candidate.person }, never());
    expect(opened).toMatchObject({ ...branches, body: "Body", isDraft: true });
    expect(await pullRequests.openDraft({ ...draft, opener: null }, never())).toEqual(opened);
    expect(await pullRequests.find(branches, never())).toEqual(opened);
  });

  test("shows one check per key and commit, and completes it once; or shows none", async () => {
    const { checks } = candidate.host;
    if (checks === null) return expect(candidate.checks).toBeNull();
    const commit = (await local.git("rev-parse", "HEAD")).trim();
    const check = { commit, name: "Agent run", url: "https://platform.example/agents/x", startedAt: new Date(0) };
    const running = { kind: "running" } as const;
    const end = (conclusion: "success" | "failure" | "cancelled" | "neutral", summary: string): CheckState => ({
      kind: "ended",
      conclusion,
      endedAt: new Date(1_000),
      title: "The end",
      summary,
    });
    for (const state of [running, running, end("success", "Fine"), end("failure", "Late"), running])
      expect(await checks.show({ ...check, key: "one", state }, never())).toBe("shown");
    for (const conclusion of ["failure", "cancelled", "neutral"] as const)
      expect(await checks.show({ ...check, key: conclusion, state: end(conclusion, "x") }, never())).toBe("shown");
    expect(candidate.checks?.()).toEqual([
      "one success Fine",
      "failure failure x",
      "cancelled cancelled x",
      "neutral neutral x",
    ]);
    const gone = await checks.show({ ...check, commit: "0".repeat(40), key: "two", state: running }, never());
    expect(gone).toBe("refused");
  });

  test("reports the abort reason", async () => {
    const stopped = AbortSignal.abort(new Error("stopped"));
    await expect(readAdvertisement(candidate.host, 30_000, stopped)).rejects.toThrow("stopped");
    // A host in this process may finish before it checks the signal.
    const { pullRequests, directory } = candidate.host;
    if (pullRequests === null || directory !== null) return;
    await expect(pullRequests.find({ head: "one", base: "main" }, stopped)).rejects.toThrow("stopped");
  });
});

async function embedded(): Promise<Candidate> {
  const harness: GitHostHarness = await openGitHostHarness();
  const origin = await temporaryRepository();
  await harness.host.repositories.create({ teamId: harness.teamId, name: "shop", from: origin.path }, never());
  await origin.remove();
  const policy = openNetworkPolicy({ allowPrivate: [] });
  const own = ownRepositories(harness.host);
  const sources = openSourceHosts({ policy, sshDirectory: "/nonexistent", own, rules: noRules, github: null });
  const host = await sources.open(harness.teamId, harness.host.cloneUrl("shop"));
  return { host, person: null, checks: null, close: harness.close };
}

async function github(): Promise<Candidate> {
  const fake = await startGithub();
  const harness = await openGitHarness({ github: openGithub(await githubSettings(fake), {}) });
  const shop = await fake.addRepository("acme/shop", { collaborators: ["ada", "b"] });
  const token = fake.addToken("ada");
  const person = { token: async () => token, disconnected: () => new Error("no such token") };
  const checks = () =>
    shop.checks.map(({ external_id, conclusion, output }) => `${external_id} ${conclusion} ${output.summary}`);
  const close = async () => {
    expect(fake.violations).toEqual([]);
    await fake.close();
    await harness.remove();
  };
  return { host: await harness.sources.open(1, `${fake.url}/acme/shop`), person, checks, close };
}

async function plain(serve: typeof serveDaemon): Promise<Candidate> {
  const harness: GitHarness = await openGitHarness();
  const { directory } = await harness.makeRepository("shop");
  await promisify(execFile)("git", ["-C", directory, "config", "http.receivepack", "true"]);
  const server = await serve(harness.served);
  const close = async () => {
    await server.close();
    await harness.remove();
  };
  return { host: await harness.sources.open(1, `${server.url}/shop.git`), person: null, checks: null, close };
}

test("an address of a previous start, or of another server of the same database, is recognized as local", async () => {
  const harness = await openGitHostHarness();
  const own = ownRepositories(harness.host);
  expect(await own.nameOf("http://127.0.0.1:1/git/shop.git")).toBeUndefined();
  await harness.db.insertInto("server_addresses").values({ url: "http://127.0.0.1:1" }).execute();
  expect(await own.nameOf("http://127.0.0.1:1/git/shop.git")).toBe("shop");
  expect(await own.nameOf("http://localhost:1/git/shop")).toBe("shop");
  expect(await own.nameOf("http://127.0.0.1:2/git/shop.git")).toBeUndefined();
  expect(await own.nameOf("http://127.0.0.1:1/git/a/b.git")).toBeUndefined();
  await harness.host.addresses.announce();
  expect(await own.nameOf(`${harness.url}/git/shop.git`)).toBe("shop");
  await harness.close();
});
