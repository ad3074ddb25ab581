import { execFile } from "node:child_process";
import { randomBytes } from "node:crypto";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { promisify } from "node:util";
import { gzipSync } from "node:zlib";
import { eventually, type TemporaryDirectory, temporaryDirectory, temporaryRepository } from "@agentcli/testkit";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { type GitHostHarness, openGitHostHarness, userGit } from "./git-host-harness.ts";

let harness: GitHostHarness;
let work: TemporaryDirectory;
let count = 0;
let name = "";

beforeAll(async () => {
  harness = await openGitHostHarness();
});
afterAll(() => harness.close());

beforeEach(async () => {
  work = await temporaryDirectory();
  count += 1;
  name = `shop-${count}`;
});
afterEach(() => work.remove());

const never = () => new AbortController().signal;
const create = (from: string | null = null) =>
  harness.host.repositories.create({ teamId: harness.teamId, name, from }, never());

/** A repository with one commit on main, and a clone of it. */
async function shop(): Promise<string> {
  const origin = await temporaryRepository({ "README.md": "# Shop\n" });
  await create(origin.path);
  await origin.remove();
  await userGit(work.path, "clone", "--quiet", harness.withKey(harness.host.cloneUrl(name)), "clone");
  return join(work.path, "clone");
}

async function pushBranch(clone: string, branch: string, files: Record<string, string>): Promise<void> {
  await userGit(clone, "checkout", "--quiet", "-B", branch, "origin/main");
  for (const [file, text] of Object.entries(files)) writeFileSync(join(clone, file), text);
  await userGit(clone, "add", "--all");
  await userGit(clone, "commit", "--quiet", "--message=Change");
  await userGit(clone, "push", "--quiet", "--force", "origin", branch);
}

test("a repository is cloned and pushed to with a key of its team", async () => {
  const clone = await shop();
  expect(readFileSync(join(clone, "README.md"), "utf8")).toBe("# Shop\n");
  await pushBranch(clone, "topic", { "new.txt": "new\n" });
  expect(await userGit(clone, "ls-remote", "origin", "topic")).toContain("refs/heads/topic");
});

test("a push shows what git on the user's side has to say, and no error of the host", async () => {
  const clone = await shop();
  await userGit(clone, "commit", "--quiet", "--allow-empty", "--message=Empty");
  const { stderr } = await promisify(execFile)("git", ["push", "origin", "HEAD:refs/heads/quiet"], { cwd: clone });
  expect(stderr).toContain("[new branch]");
  expect(stderr).not.toMatch(/cannot run|error:/);
});

test("every git protocol version works, and so does a large push", async () => {
  const clone = await shop();
  writeFileSync(join(clone, "large.txt"), randomBytes(3_000_000).toString("base64"));
  await userGit(clone, "add", "--all");
  await userGit(clone, "commit", "--quiet", "--message=Large");
  await userGit(clone, "push", "--quiet", "origin", "HEAD:main");
  for (const version of ["0", "1", "2"]) {
    const flags = ["-c", `protocol.version=${version}`, "clone", "--quiet"];
    await userGit(work.path, ...flags, harness.withKey(harness.host.cloneUrl(name)), `version-${version}`);
    expect(await userGit(join(work.path, `version-${version}`), "rev-parse", "HEAD")).toBe(
      await userGit(clone, "rev-parse", "HEAD"),
    );
  }
});

test("git is asked for a missing key; a wrong one is refused", async () => {
  await create();
  const url = `${harness.host.cloneUrl(name)}/info/refs?service=git-upload-pack`;
  const answer = await fetch(url);
  expect(answer.status).toBe(401);
  expect(answer.headers.get("www-authenticate")).toMatch(/^Basic realm=/);
  expect((await fetch(url, { headers: { authorization: "Bearer plt_no_such" } })).status).toBe(401);
  const basic = Buffer.from(`${harness.key}:`).toString("base64");
  expect((await fetch(url, { headers: { authorization: `Basic ${basic}` } })).status).toBe(200);
  expect((await fetch(url, { headers: { authorization: `Bearer ${harness.key}` } })).status).toBe(200);
});

test("a repository of another team is not found", async () => {
  await create();
  const authorization = `Bearer ${harness.otherKey}`;
  const url = harness.host.cloneUrl(name);
  for (const path of ["/info/refs?service=git-upload-pack", "/info/refs?service=git-receive-pack"])
    expect((await fetch(`${url}${path}`, { headers: { authorization } })).status).toBe(404);
  for (const path of ["/git-upload-pack", "/git-receive-pack"])
    expect((await fetch(`${url}${path}`, { method: "POST", headers: { authorization } })).status).toBe(404);
  expect((await harness.ask("GET", `/git/${name}/pulls`, undefined, harness.otherKey)).status).toBe(404);
  expect((await harness.ask("POST", `/git/${name}/pulls`, {}, harness.otherKey)).status).toBe(404);
});

test("a read-only key cannot push", async () => {
  const clone = await shop();
  const { key } = await harness.principals.createKey({
    name: "reader",
    team: "default",
    owner: { kind: "user", email: null },
    scopes: ["repositories:read"],
    expiresAt: null,
  });
  await userGit(clone, "remote", "set-url", "origin", harness.withKey(harness.host.cloneUrl(name), key));
  await userGit(clone, "fetch", "--quiet");
  await expect(userGit(clone, "push", "--quiet", "origin", "HEAD:topic")).rejects.toThrow(/403/);
});

test("compressed requests are accepted, and invalid ones do no harm", async () => {
  await shop();
  const post = (body: Buffer, headers: Record<string, string>) =>
    fetch(`${harness.host.cloneUrl(name)}/git-upload-pack`, {
      method: "POST",
      body: new Uint8Array(body),
      headers: { authorization: `Bearer ${harness.key}`, "git-protocol": "version=2", ...headers },
    });
  const list = Buffer.from("0014command=ls-refs\n00010000");
  expect(await (await post(gzipSync(list), { "content-encoding": "gzip" })).text()).toContain("refs/heads/main");
  expect(await (await post(list, {})).text()).toContain("refs/heads/main");
  for (const [body, headers] of [
    [Buffer.from("rubbish"), {}],
    [Buffer.from("rubbish"), { "content-encoding": "gzip" }],
    [list, { "git-protocol": "version=2\nX: y".replace("\n", "") }],
  ] as [Buffer, Record<string, string>][])
    await post(body, headers).then(
      (answer) => answer.text(),
      () => {},
    );
  expect(await (await post(list, {})).text()).toContain("refs/heads/main");
});

test("git is stopped when its client disconnects", async () => {
  const { directory } = await create();
  const call = request({
    port: new URL(harness.url).port,
    path: `/git/${name}.git/git-receive-pack`,
    method: "POST",
    headers: { authorization: `Bearer ${harness.key}`, "content-length": "1000000" },
  });
  call.on("error", () => {});
  call.write("00");
  await eventually(() => countProcesses(directory) > 0);
  call.destroy();
  await eventually(() => countProcesses(directory) === 0);
});

/** Processes with this directory in their command line. */
const countProcesses = (directory: string): number =>
  readdirSync("/proc").filter((pid) => /^\d+$/.test(pid) && commandLine(pid).includes(directory)).length;

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "utf8");
  } catch {
    return "";
  }
}

test("URLs without a repository are not found", async () => {
  const headers = { authorization: `Bearer ${harness.key}` };
  for (const path of ["none.git", "..%2f..%2fetc.git", "-x.git", "a%00.git"]) {
    const answer = await fetch(`${harness.url}/git/${path}/info/refs?service=git-upload-pack`, { headers });
    expect(answer.status).toBe(404);
  }
});

test("invalid and existing names are refused", async () => {
  await create();
  await expect(create()).rejects.toMatchObject({ code: "repository_name_conflict" });
  for (const bad of ["", "-x", ".x", "a/b", "a b", "x.git", "a..b", "x".repeat(101)]) {
    name = bad;
    await expect(create()).rejects.toMatchObject({ code: "validation_error" });
  }
});

test("a plain directory becomes a first commit, without ignored files", async () => {
  const files = await temporaryDirectory({
    ".gitignore": "ignored.txt\n",
    "ignored.txt": "no\n",
    "src/a.ts": "export {};\n",
  });
  writeFileSync(Buffer.concat([Buffer.from(`${files.path}/`), Buffer.from([0xe9])]), "no text\n");
  await userGit(files.path, "init", "--quiet", "nested");
  const before = readdirSync(files.path);
  const { directory } = await create(files.path);
  expect(await userGit(directory, "ls-tree", "-r", "--name-only", "main")).toBe('.gitignore\nsrc/a.ts\n"\\351"');
  expect(readdirSync(files.path)).toEqual(before);
  await files.remove();
});

test("a repository keeps the default branch of its source", async () => {
  const origin = await temporaryRepository();
  await origin.git("branch", "-m", "main", "trunk");
  expect(await create(origin.path)).toMatchObject({ defaultBranch: "trunk" });
  await origin.remove();
});

test("a shallow clone is refused, and leaves no repository behind", async () => {
  const origin = await temporaryRepository();
  await origin.git("commit", "--quiet", "--allow-empty", "--message=Second");
  await userGit(work.path, "clone", "--quiet", "--depth=1", `file://${origin.path}`, "shallow");
  await expect(create(join(work.path, "shallow"))).rejects.toThrow(/--unshallow/);
  expect(await harness.host.repositories.find(harness.teamId, name)).toBeUndefined();
  await origin.remove();
});

test("the first branch pushed to an empty repository becomes its default branch", async () => {
  await create();
  const origin = await temporaryRepository();
  const push = (to: string) =>
    origin.git("push", "--quiet", harness.withKey(harness.host.cloneUrl(name)), `HEAD:${to}`);
  const usual = async () => (await harness.host.repositories.find(harness.teamId, name))?.defaultBranch;
  await push("trunk");
  await expect.poll(usual).toBe("trunk");
  await push("another");
  await userGit(work.path, "clone", "--quiet", harness.withKey(harness.host.cloneUrl(name)), "fresh");
  expect(await userGit(join(work.path, "fresh"), "branch", "--show-current")).toBe("trunk");
  await origin.remove();
});

test("a pull request is opened, commented on, updated and merged", async () => {
  const clone = await shop();
  await pushBranch(clone, "topic", { "new.txt": "new\n" });
  const pulls = `/git/${name}/pulls`;
  const opened = await harness.ask("POST", pulls, { title: "A topic", body: "Why", head: "topic", draft: true });
  expect(opened).toMatchObject({
    status: 201,
    body: {
      number: 1,
      title: "A topic",
      body: "Why",
      head: "topic",
      base: "main",
      state: "open",
      draft: true,
      url: `${harness.url}${pulls}/1`,
    },
  });
  expect((await harness.ask("GET", `${pulls}/1/diff`)).text).toContain("+new");
  await harness.ask("POST", `${pulls}/1/comments`, { body: "On the whole" });
  await harness.ask("POST", `${pulls}/1/comments`, { body: "On a line", path: "new.txt", line: 1 });
  expect((await harness.ask("GET", `${pulls}/1/comments`)).body).toMatchObject({
    items: [{ body: "On the whole" }, { body: "On a line", path: "new.txt", line: 1 }],
  });
  await harness.ask("POST", `${pulls}/1/reviews`, { verdict: "approved", body: "Good" });
  expect((await harness.ask("GET", `${pulls}/1/reviews`)).body).toMatchObject({
    items: [{ verdict: "approved", body: "Good" }],
  });
  expect(await harness.ask("POST", `${pulls}/1/merge`)).toMatchObject({
    status: 409,
    body: { error: { code: "pull_request_conflict" } },
  });
  await harness.ask("PATCH", `${pulls}/1`, { draft: false, title: "The topic" });
  expect(await harness.ask("POST", `${pulls}/1/merge`)).toMatchObject({
    status: 200,
    body: { state: "merged", title: "The topic" },
  });
  expect(await harness.ask("POST", `${pulls}/1/merge`)).toMatchObject({ status: 200 });
  await userGit(clone, "fetch", "--quiet");
  expect(await userGit(clone, "show", "origin/main:new.txt")).toBe("new");
  expect(await userGit(clone, "log", "-1", "--format=%s", "origin/main")).toBe("Merge pull request #1 from topic");
  await userGit(clone, "push", "--quiet", "origin", ":topic");
  expect((await harness.ask("GET", `${pulls}/1/diff`)).text).toContain("+new");
});

test("a browser that opens the link of a pull request is redirected to its page", async () => {
  const answer = await fetch(`${harness.url}/git/shop/pulls/7`, {
    headers: { accept: "text/html" },
    redirect: "manual",
  });
  expect(answer.status).toBe(303);
  expect(answer.headers.get("location")).toBe("/repositories/shop/pulls/7");
});

test("branches with conflicting changes are not merged", async () => {
  const clone = await shop();
  await pushBranch(clone, "topic", { "README.md": "# Ours\n" });
  await pushBranch(clone, "main", { "README.md": "# Theirs\n" });
  await harness.ask("POST", `/git/${name}/pulls`, { title: "T", head: "topic" });
  expect(await harness.ask("POST", `/git/${name}/pulls/1/merge`)).toMatchObject({ status: 409 });
  expect(await harness.ask("GET", `/git/${name}/pulls/1`)).toMatchObject({ body: { state: "open" } });
});

test("twenty concurrent requests for the same pull request open one", async () => {
  const clone = await shop();
  await pushBranch(clone, "topic", { "new.txt": "new\n" });
  const repository = await harness.host.repositories.find(harness.teamId, name);
  if (!repository) throw new Error("It was made.");
  const store = harness.host.pullRequests(repository);
  const pullRequest = { title: "T", body: "", head: "topic", base: "main", isDraft: true, author: "user:1" };
  const opened = await Promise.all(Array.from({ length: 20 }, () => store.open(pullRequest)));
  expect(new Set(opened.map(({ number }) => number))).toEqual(new Set([1]));
  await store.change(1, { state: "closed" }, "ada@example.com");
  expect((await store.open(pullRequest)).number).toBe(2);
});

test("invalid pull request calls are refused with a code", async () => {
  const clone = await shop();
  await pushBranch(clone, "topic", { "new.txt": "new\n" });
  const pulls = `/git/${name}/pulls`;
  await harness.ask("POST", pulls, { title: "T", head: "topic" });
  for (const [method, path, body, status] of [
    ["POST", pulls, { title: "T", head: "none" }, 400],
    ["POST", pulls, { title: "T", head: "main" }, 400],
    ["POST", pulls, { title: "", head: "topic" }, 400],
    ["POST", pulls, { title: "T", head: "topic", extra: 1 }, 400],
    ["POST", pulls, "text", 400],
    ["POST", pulls, { title: "T", head: "--all" }, 400],
    ["POST", pulls, { title: "T", head: "topic^{/.}" }, 400],
    ["POST", pulls, { title: "T", head: "topic", body: "x".repeat(600_000) }, 413],
    ["GET", `${pulls}/2`, undefined, 404],
    ["GET", `${pulls}/zero`, undefined, 404],
    ["GET", `${pulls}/99999999999`, undefined, 404],
    ["POST", `${pulls}/1/comments`, { body: "x", path: "a" }, 400],
    ["POST", `${pulls}/1/reviews`, { verdict: "great" }, 400],
    ["PATCH", `${pulls}/1`, { state: "merged" }, 400],
  ] as [string, string, unknown, number][])
    expect(await harness.ask(method, path, body), `${method} ${path}`).toMatchObject({
      status,
      body: { error: { message: expect.any(String) } },
    });
});

test("texts written by users are encrypted in the database", async () => {
  const clone = await shop();
  await pushBranch(clone, "topic", { "new.txt": "new\n" });
  const pulls = `/git/${name}/pulls`;
  await harness.ask("POST", pulls, { title: "words-of-a-title", body: "words-of-a-body", head: "topic" });
  await harness.ask("POST", `${pulls}/1/comments`, { body: "words-of-a-comment" });
  await harness.ask("POST", `${pulls}/1/reviews`, { verdict: "commented", body: "words-of-a-review" });
  const tables = ["pull_requests", "pull_request_comments", "pull_request_reviews"] as const;
  for (const table of tables) {
    const rows = await harness.db.selectFrom(table).selectAll().execute();
    const bytes = rows.flatMap((row) =>
      Object.values(row).map((value) => Buffer.from(Buffer.isBuffer(value) ? value : String(value))),
    );
    expect(Buffer.concat(bytes).toString("latin1")).not.toContain("words-of");
  }
});
