// Which session files are believed, and what a recorded thread may do when it is resumed.
import { execFileSync } from "node:child_process";
import { chmodSync, chownSync, linkSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { replyWith } from "@agentcli/testkit";
import { type Harness, openHarness } from "@agentcli/testkit/cli";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startServer } from "../app-server/client.ts";
import { type OrdinaryUser, ordinaryUser } from "./ordinary-user.ts";

const isRoot = process.geteuid?.() === 0;
const anotherUser = 65533;

async function withSession(): Promise<Harness & { id: string; file: string }> {
  const harness = await openHarness({ replies: [replyWith("First."), replyWith("Second.")] });
  const { events } = await harness.events(["hello"]);
  return { ...harness, id: String(events[0]?.thread_id), file: harness.sessionFile() };
}

function replaceByLink(path: string, home: string): void {
  const elsewhere = join(home, "elsewhere");
  mkdirSync(elsewhere, { mode: 0o700 });
  const target = join(elsewhere, basename(path));
  renameSync(path, target);
  symlinkSync(target, path);
}

function replaceByPipe(path: string): void {
  rmSync(path);
  execFileSync("mkfifo", ["-m", "600", path]);
}

const changes: [string, string, (file: string, home: string) => void][] = [
  ["is writable by other users", "can be written by other users", (file) => chmodSync(file, 0o666)],
  ["is a symbolic link", "is a symbolic link", replaceByLink],
  ["is behind a linked directory", "is a symbolic link", (file, home) => replaceByLink(dirname(file), home)],
  [
    "is in a directory that others can write",
    "can be written by other users",
    (file) => chmodSync(dirname(file), 0o777),
  ],
  [
    "is in an agent home that others can write",
    "can be written by other users",
    (_file, home) => chmodSync(home, 0o777),
  ],
  ["is a pipe", "is not a regular file", replaceByPipe],
  ["has another name", "has another name (a hard link)", (file, home) => linkSync(file, join(home, "other"))],
];
// Only root can give files away.
if (isRoot)
  changes.push(["belongs to another user", "belongs to another user", (file) => chownSync(file, anotherUser, 0)]);

describe.each(changes)("a session file that %s", (_what, why, change) => {
  test("is refused by its id, and passed over where sessions are listed", async () => {
    const { run, id, file, home, requests } = await withSession();
    change(file, home);
    for (const args of [
      ["exec", "resume", id, "go on"],
      ["sessions", "show", id],
      ["exec", "fork", id, "go on"],
    ]) {
      const { code, stderr } = await run(args);
      expect([args, code, stderr]).toEqual([args, 2, expect.stringContaining(why)]);
    }
    expect((await run(["exec", "resume", "--last", "go on"])).stderr).toContain("There is no session to resume");
    expect((await run(["sessions", "list"])).stdout).toBe("");
    expect((await run(["cost"])).stdout).not.toContain("scripted");
    expect(requests()).toHaveLength(1);
  });
});

test("an agent home that others can write is reported, and a run in it stores no session", async () => {
  const { run, home, requests } = await openHarness({ replies: [replyWith("First.")] });
  chmodSync(home, 0o777);
  const warning = `${home} can be written by other users, who could change your settings`;
  const stored = await run(["exec", "hello"]);
  expect([stored.code, stored.stderr]).toEqual([2, expect.stringContaining("can be written by other users, so its")]);
  expect(requests()).toHaveLength(0);
  const ephemeral = await run(["exec", "--ephemeral", "hello"]);
  expect([ephemeral.code, ephemeral.stderr]).toEqual([0, expect.stringContaining(warning)]);
  expect((await run(["doctor"])).stdout).toContain(warning);
  chmodSync(home, 0o1777);
  expect((await run(["exec", "--ephemeral", "hello"])).stderr).not.toContain("can be written by other users");
});

test("an index of names that others can write names no session", async () => {
  const { run, home, id } = await withSession();
  expect(await run(["sessions", "name", id, "nightly"])).toMatchObject({ code: 0 });
  const index = join(home, "session_index.jsonl");
  chmodSync(index, 0o666);
  for (const args of [
    ["exec", "resume", "nightly", "go on"],
    ["sessions", "name", id, "daily"],
  ])
    expect(await run(args)).toMatchObject({ code: 2, stderr: expect.stringContaining(`${index} can be written by`) });
  expect((await run(["sessions", "list"])).stdout).not.toContain("nightly");
  chmodSync(index, 0o600);
  expect(await run(["exec", "resume", "nightly", "go on"])).toMatchObject({ code: 0 });
});

test("--last says which newer session it passes over because it is damaged", async () => {
  const { run, home, id } = await withSession();
  const damaged = join(
    home,
    "sessions/2099/01/01/rollout-2099-01-01T00-00-00-01900000-0000-7000-8000-000000000000.jsonl",
  );
  mkdirSync(dirname(damaged), { recursive: true, mode: 0o700 });
  writeFileSync(damaged, "{}\n", { mode: 0o600 });
  const { code, stdout, stderr } = await run(["exec", "resume", "--last", "go on"]);
  expect([code, stdout]).toEqual([0, "Second.\n"]);
  expect(stderr).toContain(`The newest session, ${damaged}, is damaged`);
  expect((await run(["sessions", "list"])).stdout).toContain(id);
});

test("a session whose directory has become a link is not resumed where the link leads", async () => {
  const harness = await openHarness({ replies: [replyWith("First."), replyWith("Second.")] });
  const [own, other] = [join(harness.repository, "sub"), join(harness.repository, "other")];
  mkdirSync(own);
  mkdirSync(other);
  const { events } = await harness.events(["-C", own, "hello"]);
  const threadId = String(events[0]?.thread_id);
  renameSync(own, `${own}.old`);
  symlinkSync(other, own);
  const refused = await harness.run(["exec", "resume", threadId, "go on"]);
  expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining(`is now a link to ${other}`)]);
  const client = await (await startServer(harness, "stdio")).connect();
  await expect(client.request("thread/resume", { threadId })).rejects.toThrow(/is now a link to/);
  expect(harness.requests()).toHaveLength(1);
  expect(await harness.run(["exec", "resume", threadId, "-C", other, "go on"])).toMatchObject({ code: 0 });
});

describe("a session that ran with danger-full-access", () => {
  test("needs the flag again, and goes on with it or in another sandbox", async () => {
    const harness = await openHarness({ replies: [replyWith("First."), replyWith("Second."), replyWith("Third.")] });
    const { events } = await harness.events(["-s", "danger-full-access", "hello"]);
    const id = String(events[0]?.thread_id);
    const refused = await harness.run(["exec", "resume", id, "go on"]);
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("give --sandbox danger-full-access")]);
    expect(harness.requests()).toHaveLength(1);
    expect(await harness.run(["exec", "resume", id, "-s", "danger-full-access", "go on"])).toMatchObject({ code: 0 });
    expect(await harness.run(["exec", "resume", id, "-s", "read-only", "go on"])).toMatchObject({ code: 0 });
  });

  test("is resumed by the app server only for a client that asks for it again", async () => {
    const harness = await openHarness({ replies: [replyWith("First.")] });
    const { events } = await harness.events(["--yolo", "hello"]);
    const threadId = String(events[0]?.thread_id);
    const server = await startServer(harness, "stdio");
    const client = await server.connect();
    await expect(client.request("thread/resume", { threadId })).rejects.toThrow(/has to be asked for again/);
    await expect(client.request("thread/fork", { threadId })).rejects.toThrow(/has to be asked for again/);
    const { sandbox } = await client.request("thread/resume", { threadId, sandbox: "danger-full-access" });
    expect(sandbox).toEqual({ type: "dangerFullAccess" });
  });
});

describe("an ordinary user", () => {
  let user: OrdinaryUser;
  beforeAll(() => {
    user = ordinaryUser();
  });
  afterAll(() => user.remove());

  test("resumes a session of their own, and none that others can write", async () => {
    const { repository, home, id, file } = await withSession();
    for (const directory of [repository, home]) user.own(directory);
    const env = { PATH: process.env.PATH ?? "", HOME: home, AGENT_HOME: home, SHELL: "/bin/bash" };
    const resume = () => user.run(["exec", "resume", id, "go on"], { cwd: repository, env });
    chmodSync(file, 0o622);
    expect(await resume()).toMatchObject({ code: 2, stderr: expect.stringContaining("can be written by other users") });
    chmodSync(file, 0o600);
    expect(await resume()).toMatchObject({ code: 0, stdout: "Second.\n" });
  });
});
