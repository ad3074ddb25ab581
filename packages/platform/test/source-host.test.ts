// One suite for every source host: what the port promises, tried on each of them.
import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { temporaryRepository } from "@agentcli/testkit";
import { startGithub } from "@agentcli/testkit/github";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runGit } from "../src/git/index.ts";
import { ownRepositories } from "../src/githost/index.ts";
import { openNetworkPolicy } from "../src/network/index.ts";
import {
  type CheckState,
  openGithub,
  openSourceHosts,
  type PersonalAccess,
  readAdvertisement,
  type SourceHost,
} from "../src/scm/index.ts";
import { type GitBench, gitBench, never, noRules } from "./git-bench.ts";
import { serveDaemon, serveHttp } from "./git-servers.ts";
import { githubSettings } from "./github-settings.ts";
import { type HostBench, hostBench } from "./host-bench.ts";

interface Candidate {
  host: SourceHost;
  /** Somebody whom it knows; null where it knows nobody. */
  person: PersonalAccess | null;
  /** What it shows beside commits: key, conclusion and summary of each. Null where it shows none. */
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
    runGit({ place: { directory: join(local.path, ".git") }, args, remote }, never());

  test("offers its branches and says which is the usual one", async () => {
    const { defaultBranch, references } = await readAdvertisement(candidate.host, 30_000, never());
    expect(defaultBranch).toBe("main");
    expect(references.get("refs/heads/two")).toBe((await local.git("rev-parse", "HEAD")).trim());
  });

  test("lets git speak one protocol only", async () => {
    const protocol = await candidate.host.reach(async (remote) => remote.protocol, never());
    expect(["file", "http", "git"]).toContain(protocol);
  });

  test("has pull requests that keep their promises, or none", async () => {
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

  test("finds a pull request whoever opened it, and opens one in the name of a person", async () => {
    const { pullRequests } = candidate.host;
    if (pullRequests === null) return expect(candidate.person).toBeNull();
    const branches = { head: "two", base: "main" };
    const draft = { ...branches, title: "Title", body: "Body", noDraftNote: "Note", author: "agent:x" };
    const opened = await pullRequests.openDraft({ ...draft, opener: candidate.person }, never());
    expect(opened).toMatchObject({ ...branches, body: "Body", isDraft: true });
    expect(await pullRequests.openDraft({ ...draft, opener: null }, never())).toEqual(opened);
    expect(await pullRequests.find(branches, never())).toEqual(opened);
  });

  test("shows one check per key and commit, and lets it end once; or shows none", async () => {
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

  test("tells the reason when it is stopped", async () => {
    const stopped = AbortSignal.abort(new Error("stopped"));
    await expect(readAdvertisement(candidate.host, 30_000, stopped)).rejects.toThrow("stopped");
    // A host that is this program itself may be done before it looks.
    const { pullRequests, directory } = candidate.host;
    if (pullRequests === null || directory !== null) return;
    await expect(pullRequests.find({ head: "one", base: "main" }, stopped)).rejects.toThrow("stopped");
  });
});

async function embedded(): Promise<Candidate> {
  const bench: HostBench = await hostBench();
  const origin = await temporaryRepository();
  await bench.host.repositories.create({ teamId: bench.teamId, name: "shop", from: origin.path }, never());
  await origin.remove();
  const policy = openNetworkPolicy({ allowPrivate: [] });
  const own = ownRepositories(bench.host);
  const sources = openSourceHosts({ policy, sshDirectory: "/nonexistent", own, rules: noRules, github: null });
  const host = await sources.open(bench.teamId, bench.host.cloneUrl("shop"));
  return { host, person: null, checks: null, close: bench.close };
}

async function github(): Promise<Candidate> {
  const fake = await startGithub();
  const bench = await gitBench({ github: openGithub(await githubSettings(fake), {}) });
  const shop = await fake.addRepository("acme/shop", { collaborators: ["ada", "b"] });
  const token = fake.addToken("ada");
  const person = { token: async () => token, disconnected: () => new Error("no such token") };
  const checks = () =>
    shop.checks.map(({ external_id, conclusion, output }) => `${external_id} ${conclusion} ${output.summary}`);
  const close = async () => {
    expect(fake.complaints).toEqual([]);
    await fake.close();
    await bench.remove();
  };
  return { host: await bench.sources.open(1, `${fake.url}/acme/shop`), person, checks, close };
}

async function plain(serve: typeof serveDaemon): Promise<Candidate> {
  const bench: GitBench = await gitBench();
  const { directory } = await bench.makeRepository("shop");
  await promisify(execFile)("git", ["-C", directory, "config", "http.receivepack", "true"]);
  const server = await serve(bench.served);
  const close = async () => {
    await server.close();
    await bench.remove();
  };
  return { host: await bench.sources.open(1, `${server.url}/shop.git`), person: null, checks: null, close };
}

test("an address of a former start, or of another server of the same database, is ours", async () => {
  const bench = await hostBench();
  const own = ownRepositories(bench.host);
  expect(await own.nameOf("http://127.0.0.1:1/git/shop.git")).toBeUndefined();
  await bench.db.insertInto("server_addresses").values({ url: "http://127.0.0.1:1" }).execute();
  expect(await own.nameOf("http://127.0.0.1:1/git/shop.git")).toBe("shop");
  expect(await own.nameOf("http://localhost:1/git/shop")).toBe("shop");
  expect(await own.nameOf("http://127.0.0.1:2/git/shop.git")).toBeUndefined();
  expect(await own.nameOf("http://127.0.0.1:1/git/a/b.git")).toBeUndefined();
  await bench.host.addresses.announce();
  expect(await own.nameOf(`${bench.url}/git/shop.git`)).toBe("shop");
  await bench.close();
});
