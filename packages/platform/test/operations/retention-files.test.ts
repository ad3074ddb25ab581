// Retention of files: of archived and deleted agents, mirrors, and what killed servers left; and of everything when killed.
import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { sampleOf } from "@agentcli/testkit";
import { sql } from "kysely";
import { afterAll, beforeAll, expect, test } from "vitest";
import { programsOfTests } from "../harness/bundled.ts";
import { agentWork, never, openGitHarness } from "../repositories/git-harness.ts";
import { userGit } from "../repositories/git-host-harness.ts";
import { serveHttp } from "../repositories/git-servers.ts";
import { type HandoffHarness, openHandoffHarness, type TestAgent, write } from "../repositories/handoff-harness.ts";
import { applyAll } from "./retention-rules.ts";

const bundled = programsOfTests();

let harness: HandoffHarness;
beforeAll(async () => {
  harness = await openHandoffHarness();
});
afterAll(() => harness.close());

const day = 24;

const archive = (agent: TestAgent, days: number | null) =>
  harness.db
    .updateTable("agents")
    .set({ archived_at: days === null ? null : new Date(Date.now() - days * day * 3_600_000) })
    .where("id", "=", agent.id)
    .execute();

const remove = (hoursLater = 0, dataDirectory = harness.data) =>
  applyAll({ db: harness.db, dataDirectory, hoursLater });

const directoriesOf = ({ id }: { id: string }) =>
  ["workspaces", "handoffs"].filter((parent) => existsSync(join(harness.data, parent, id)));

test("files of an agent go 30 days after it was archived; unarchived, it continues with what it pushed", async () => {
  const shop = await harness.shop();
  const agents = await Promise.all(Array.from({ length: 5 }, () => harness.agent([{ url: shop.url }])));
  const [long, lately, active, open, unsaved] = agents as [TestAgent, TestAgent, TestAgent, TestAgent, TestAgent];
  write(long.workspace.root, "first.txt", "first\n");
  await long.finish("First");
  await archive(long, 31);
  await archive(lately, 29);
  await archive(active, 31);
  const { runId } = await active.end("Not yet");
  await harness.db.updateTable("runs").set({ status: "RUNNING" }).where("id", "=", runId).execute();
  await archive(unsaved, 31);
  for (const { id } of [long, lately]) {
    const disk = { agent_id: id, data_id: "data", node_name: "node", save_id: "list", is_bound: false };
    await harness.db.insertInto("agent_disks").values(disk).execute();
    mkdirSync(join(harness.data, "disks", id), { recursive: true });
    writeFileSync(join(harness.data, "disks", id, "list"), "saved");
  }
  const { runId: unsavedRun } = await unsaved.end("Not kept yet");
  await harness.db.updateTable("runs").set({ retry_artifacts_at: new Date() }).where("id", "=", unsavedRun).execute();
  await remove();
  expect(agents.map((agent) => directoriesOf(agent).length)).toEqual([0, 2, 2, 2, 2]);
  expect(existsSync(join(open.workspace.root, "README.md"))).toBe(true);
  // What was saved for other servers goes with them.
  expect([long, lately].map(({ id }) => existsSync(join(harness.data, "disks", id)))).toEqual([false, true]);
  const disks = await harness.db.selectFrom("agent_disks").select("agent_id").execute();
  expect(disks).toEqual([{ agent_id: lately.id }]);
  await archive(long, null);
  const again = await long.open();
  expect(again).toEqual(long.workspace);
  write(again.root, "second.txt", "second\n");
  const { faults } = await long.finish("Second");
  expect(faults).toEqual([]);
  const branch = again.repositories[0]?.branch ?? "";
  expect(await shop.git("log", "--format=%s", `main..${branch}`)).toBe("Second\nFirst");
  await harness.db.updateTable("runs").set({ status: "FINISHED" }).where("id", "=", runId).execute();
});

test("an agent whose branch is gone when it is unarchived starts a new one", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  write(agent.workspace.root, "merged.txt", "merged\n");
  await agent.finish("Merged");
  await archive(agent, 31);
  await remove();
  await shop.git("update-ref", "-d", `refs/heads/${agent.workspace.repositories[0]?.branch}`);
  await shop.git("update-ref", "-d", "refs/pull/1/head");
  await shop.git("reflog", "expire", "--expire=now", "--all");
  await shop.git("-c", "gc.pruneExpire=now", "gc", "--quiet", "--prune=now");
  await archive(agent, null);
  const again = await agent.open();
  write(again.root, "next.txt", "next\n");
  expect((await agent.finish("Next")).faults).toEqual([]);
  const branch = again.repositories[0]?.branch ?? "";
  expect(await shop.git("log", "--format=%s", `main..${branch}`)).toMatch(/^Next$/);
});

test("a mirror goes when no workspace borrows from it, be its agent unknown, and no agent has used it for 30 days", async () => {
  const git = await openGitHarness();
  const server = await serveHttp(git.served);
  try {
    await git.makeRepository("shop");
    const url = `${server.url}/shop.git`;
    const work = agentWork({ repos: [{ url }] });
    await git.workspaces.open(work, never());
    const mirrors = () => readdirSync(join(git.data, "mirrors"));
    const row = { id: work.agentId, directory: work.directory, team_id: harness.teamId, settings: "{}", source: "API" };
    const sealed = { name: Buffer.alloc(1), data_key: Buffer.alloc(1), private_settings: Buffer.alloc(1) };
    await harness.db
      .insertInto("agents")
      .values({ ...row, ...sealed })
      .execute();
    await remove(365 * day, git.data);
    expect(mirrors()).toHaveLength(1);
    await harness.db.deleteFrom("agents").where("id", "=", work.agentId).execute();
    await remove(365 * day, git.data);
    expect(readdirSync(join(git.data, "workspaces"))).toEqual([work.directory]);
    await harness.db.insertInto("deleted_directories").values({ directory: work.directory }).execute();
    await remove(29 * day, git.data);
    expect(mirrors()).toHaveLength(1);
    expect(readdirSync(join(git.data, "workspaces"))).toEqual([]);
    await remove(31 * day, git.data);
    expect(mirrors()).toEqual([]);
    await git.workspaces.open(agentWork({ repos: [{ url }] }), never());
    expect(mirrors()).toHaveLength(1);
  } finally {
    await server.close();
    await git.remove();
  }
});

test("no mirror goes while it cannot be read which ones workspaces borrow from", async () => {
  const git = await openGitHarness();
  try {
    const mirror = join(git.data, "mirrors", "b".repeat(32));
    mkdirSync(join(mirror, "objects"), { recursive: true });
    mkdirSync(join(git.data, "handoffs/someone/shop.git/objects/info/alternates"), { recursive: true });
    await expect(remove(365 * day, git.data)).rejects.toThrow("EISDIR");
    expect(existsSync(mirror)).toBe(true);
  } finally {
    await git.remove();
  }
});

const uuid = "0198c0de-0000-4000-8000-000000000000";

/** Files as killed servers leave them, and files that look like them. */
function writeFiles(data: string, agentId: string): { unfinished: string[]; others: string[] } {
  const mirror = `mirrors/${"a".repeat(32)}`;
  const host = `handoffs/${agentId}/shop.git`;
  const unfinished = [
    `audit-head.${uuid}`,
    "server.json.4711",
    "kek.4711",
    "kek.next.4711",
    "signing-key.4711",
    "postgres-password.4711",
    "postgres.4711.new/PG_VERSION",
    "postgres.4711.new.password",
    `workspaces/${agentId}/.draft-${uuid}/file`,
    `${host}.draft-4711/HEAD`,
    `${host}/index-${uuid}`,
    `${host}/diff-Ab12_x/index`,
    `${mirror}.draft-${uuid}/HEAD`,
    `${mirror}/packed-refs.draft-${uuid}`,
    `${mirror}/objects/pack/tmp_pack_1`,
    "repositories/9999.git/objects/incoming-1/pack",
    "repositories/9999.git/objects/pack/tmp_pack_2",
    `artifacts/${agentId}/${uuid}`,
  ];
  const others = [
    "kek",
    "kek.12345678",
    "kek.next",
    "audit-head",
    "signing-key",
    "postgres.log.1",
    "config.toml.1",
    `workspaces/${agentId}/shop/.draft-${uuid}`,
    `workspaces/${agentId}/notes.draft-1`,
    `${host}/index`,
    `${host}/HEAD`,
    "repositories/9999.git/objects/pack/pack-1.pack",
  ];
  for (const path of [...unfinished, ...others].map((name) => join(data, name))) {
    mkdirSync(dirname(path), { recursive: true });
    if (!existsSync(path)) writeFileSync(path, "x");
  }
  return { unfinished, others };
}

test("unfinished files of killed servers go after a day; keys, logs and files of agents stay", async () => {
  const agent = await harness.agent([]);
  const { unfinished, others } = writeFiles(harness.data, agent.id);
  const present = (names: string[]) => names.filter((name) => existsSync(join(harness.data, name)));
  await remove(23);
  expect(present(unfinished)).toEqual(unfinished);
  await remove(25);
  expect(present(unfinished)).toEqual([]);
  expect(present(others)).toEqual(others);
});

/** An archived agent, an unused one, a deleted one, an expired stream, an old answer, and one of each that stays. */
async function openScene() {
  const { db, data } = harness;
  const [due, kept, unused] = await Promise.all([harness.agent([]), harness.agent([]), harness.agent([])]);
  await archive(due, 31);
  const updated_at = new Date(Date.now() - 91 * day * 3_600_000);
  await db.updateTable("agents").set({ updated_at }).where("id", "=", unused.id).execute();
  const gone = `bc-${randomUUID()}`;
  for (const parent of ["workspaces", "handoffs", "artifacts"])
    mkdirSync(join(data, parent, gone, "below"), { recursive: true });
  writeFileSync(join(data, "workspaces", gone, "below/file"), "x");
  await db.insertInto("deleted_directories").values({ directory: gone }).execute();
  mkdirSync(join(data, "worker-sync"), { recursive: true });
  const synced = [due.id, gone, kept.id].map((name) => join(data, "worker-sync", `${name}.json`));
  for (const file of synced) writeFileSync(file, "{}");
  const runs: string[] = [];
  for (const [agent, days] of [
    [due, 2],
    [kept, 0],
  ] as const) {
    const { runId } = await agent.end("Done");
    runs.push(runId);
    await sql`update runs set ended_at = now() - ${days} * interval '1 day' where id = ${runId}`.execute(db);
    await sql`
      insert into frames (run_id, seq, event_id, event, data, at)
      select ${runId}, seq, '1-' || seq, 'assistant', '\\x00', now() from generate_series(1, 1500) as seq
    `.execute(db);
    await sql`
      insert into idempotent_answers (principal, key, body_hash, status, agent_id, run_id, created_at)
      values ('user:1', ${runId}, '\\x00', 200, ${agent.id}, ${runId}, now() - ${days} * interval '1 day')
    `.execute(db);
  }
  const left = async () => ({
    frames: (await db.selectFrom("frames").select("run_id").distinct().where("run_id", "in", runs).execute()).length,
    answers: (await db.selectFrom("idempotent_answers").select("key").where("key", "in", runs).execute()).length,
    due: directoriesOf(due),
    unused: directoriesOf(unused),
    agents: (await db.selectFrom("agents").select("id").where("id", "in", [due.id, kept.id, unused.id]).execute())
      .length,
    gone: ["workspaces", "handoffs", "artifacts"].filter((parent) => existsSync(join(data, parent, gone))),
    kept: directoriesOf(kept),
    synced: synced.map((file) => existsSync(file)),
    aside: ["workspaces", "handoffs"].flatMap((parent) =>
      readdirSync(join(data, parent)).filter((name) => name.startsWith(".removed-")),
    ),
  });
  return left;
}

const complete = {
  ...{ frames: 1, answers: 1, due: [], unused: [], agents: 2, gone: [], kept: ["workspaces", "handoffs"], aside: [] },
  synced: [false, false, true],
};

async function runChild(killAt: number, log: string): Promise<NodeJS.Signals | number | null> {
  const program = await bundled("operations/retention-child.ts");
  const options = { databaseUrl: harness.databaseUrl, dataDirectory: harness.data, hoursLater: 0 };
  const child = spawn(
    process.execPath,
    ["--require", join(import.meta.dirname, "../harness/kill-at-step.cjs"), program, JSON.stringify(options)],
    {
      env: { ...process.env, KILL_AT: String(killAt), KILL_LOG: log, KILL_FILES: "1" },
      stdio: ["ignore", "ignore", "inherit"],
    },
  );
  return new Promise((resolve) => child.on("close", (code, signal) => resolve(signal ?? code)));
}

test("retention that is killed at any step and repeated removes what is due, and nothing else", {
  timeout: 1_800_000,
}, async () => {
  const log = join(harness.data, "steps of retention");
  await remove();
  const settings = JSON.stringify({ retention: "90_days" });
  await harness.db.insertInto("team_settings").values({ team_id: harness.teamId, settings }).execute();
  const whole = await openScene();
  expect(await runChild(0, log)).toBe(0);
  expect(await whole()).toEqual(complete);
  const steps = readFileSync(log, "utf8").trim().split("\n");
  expect(steps.some((step) => step.endsWith("after rename"))).toBe(true);
  const outcomes: unknown[] = [];
  for (const killAt of pointsOf(steps)) {
    const left = await openScene();
    // The number of steps differs a little from run to run: the last points may lie behind the end.
    outcomes.push(await runChild(killAt, join(harness.data, "ignored.log")));
    const where = `killed at ${steps[killAt - 1]}`;
    expect((await left()).kept, where).toEqual(complete.kept);
    // The database may hold the locks of a killed process for a moment: the next round finds what this one skips.
    const again = async () => {
      await remove();
      return left();
    };
    await expect.poll(again, { message: where }).toEqual(complete);
  }
  expect(outcomes.slice(0, Math.ceil(outcomes.length / 2))).not.toContain(0);
});

/** All steps in a full sweep; otherwise a sample that differs each day. */
function pointsOf(steps: string[]): number[] {
  const all = steps.map((_step, index) => index + 1);
  return sampleOf(all, { every: Math.ceil(steps.length / 5) });
}

test("the working copy of an agent that was not archived is untouched by a whole year", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  write(agent.workspace.root, "left.txt", "left\n");
  await remove(365 * day);
  expect(await userGit(agent.workspace.root, "status", "--porcelain")).toContain("left.txt");
});

test("a git directory that a killed server left unfinished in a workspace is not committed", async () => {
  const shop = await harness.shop();
  const agent = await harness.agent([{ url: shop.url }]);
  const { root, repositories } = agent.workspace;
  mkdirSync(join(root, `.git-${uuid}/objects`), { recursive: true });
  write(root, `.git-${uuid}/HEAD`, "ref: refs/heads/main\n");
  write(root, "own.txt", "own\n");
  await agent.finish("Own");
  const files = await shop.git("ls-tree", "-r", "--name-only", repositories[0]?.branch ?? "");
  expect(files.split("\n")).toEqual(["README.md", "own.txt"]);
});
