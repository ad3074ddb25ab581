import { existsSync, readFileSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  call,
  eventually,
  fault,
  freeform,
  jsonLines,
  killAtWrite,
  type Reply,
  replyWith,
  stall,
  temporaryRepository,
  waitForExit,
} from "@agentcli/testkit";
import { type Event, type Harness, itemsOf, openHarness, sessionFiles } from "@agentcli/testkit/cli";
import { describe, expect, onTestFinished, test } from "vitest";

const idOf = ({ events }: { events: Event[] }) => String(events[0]?.thread_id);
const listed = async ({ run }: Harness, ...args: string[]) =>
  jsonLines((await run(["sessions", "list", "--json", ...args])).stdout) as Record<string, unknown>[];

describe("sessions for people", () => {
  test("list shows those of this directory, --all every one, --limit the newest", async () => {
    const here = await openHarness({ replies: { replies: [replyWith("Done.")], repeat: "last" } });
    const other = await temporaryRepository();
    onTestFinished(other.remove);
    await here.run(["exec", "--tag", "team=web", "--tag", "ticket=7", "the first"]);
    await here.run(["exec", "elsewhere"], { cwd: other.path });
    await here.run(["exec", "the second"]);
    expect((await listed(here)).map(({ prompt }) => prompt)).toEqual(["the second", "the first"]);
    expect(await listed(here, "--all")).toHaveLength(3);
    const [newest] = await listed(here, "--all", "--limit", "1");
    expect(newest).toMatchObject({
      prompt: "the second",
      status: "completed",
      cwd: here.repository,
      model: "scripted",
    });
    const { stdout, stderr } = await here.run(["sessions", "list", "--limit", "1", "--all"]);
    expect(stdout.trim().split("\n")).toHaveLength(2);
    expect(stderr).toContain("There are more");
    expect((await here.run(["sessions"])).stdout).toContain("the first [team=web] [ticket=7]");
    expect((await here.run(["sessions", "list", "--limit", "0"])).code).toBe(2);
  });

  test("a session that a limit of time ended is listed as Expired, one whose model failed as Failed", async () => {
    const config = '[limits]\nwall = "500ms"\n';
    const here = await openHarness({
      replies: [{ ...stall("before-headers"), when: { bodyIncludes: "the slow one" } }, fault(400)],
      config,
    });
    await here.run(["exec", "the slow one"]);
    await here.run(["exec", "-c", 'limits.wall="10m"', "the broken one"]);
    const words = (await here.run(["sessions", "list"])).stdout
      .split("\n")
      .map((line) => line.trim().split(/ {2,}/)[2]);
    expect(words.filter((word) => word !== undefined)).toEqual(["Failed", "Expired"]);
    expect(await listed(here)).toMatchObject([
      { status: "failed", limit: null },
      { status: "failed", limit: "wall" },
    ]);
  });

  test("tags stay with a thread, and a later turn changes them", async () => {
    const here = await openHarness({ replies: { replies: [replyWith("Done.")], repeat: "last" } });
    await here.run(["exec", "--tag", "team=web", "--tag", "ticket=7", "one"]);
    await here.run(["exec", "resume", "--last", "--tag", "ticket=8", "two"]);
    await here.run(["exec", "resume", "--last", "three"]);
    expect(await listed(here)).toMatchObject([{ tags: { team: "web", ticket: "8" } }]);
    const begun = here.records().filter(({ record }) => record.type === "turn.begun");
    expect(begun.map(({ record }) => record.tags)).toEqual([
      { team: "web", ticket: "7" },
      { team: "web", ticket: "8" },
      { team: "web", ticket: "8" },
    ]);
    expect((await here.run(["exec", "--tag", "nonsense", "one"])).code).toBe(2);
  });

  test("show prints the whole session, export writes it to a file", async () => {
    const here = await openHarness({
      replies: [call("exec_command", { cmd: "echo out" }), replyWith("It printed out.")],
    });
    const id = idOf(await here.events(["print something"]));
    const { stdout } = await here.run(["sessions", "show", id]);
    for (const part of [id, "print something", "echo out", "succeeded", "It printed out."])
      expect(stdout).toContain(part);
    const raw = await here.run(["sessions", "export", id]);
    expect(raw.stdout).toBe(readFileSync(here.sessionFile(), "utf8"));
    const target = join(here.home, "export.md");
    expect(await here.run(["sessions", "export", id, "--format", "markdown", "-o", target])).toMatchObject({
      code: 0,
      stdout: "",
    });
    expect(readFileSync(target, "utf8")).toContain("> print something");
    expect((await here.run(["sessions", "export", id, "-o", join(here.home, "no/where.md")])).code).toBe(2);
  });

  test("a session is resumed by its name or the beginning of its id; an unknown one is never a new thread", async () => {
    const here = await openHarness({ replies: { replies: [replyWith("Done.")], repeat: "last" } });
    const id = idOf(await here.events(["one"]));
    expect((await here.run(["sessions", "name", id, "the nightly one"])).code).toBe(0);
    for (const reference of ["the nightly one", id.slice(0, 8), id.slice(0, 20), id]) {
      expect(idOf(await here.events(["resume", reference, "again"]))).toBe(id);
    }
    for (const unknown of ["the nightly", id.slice(0, 7), "0198c0de"]) {
      const { code, stderr } = await here.run(["exec", "resume", unknown, "again"]);
      expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(`There is no session ${unknown}`) });
    }
    expect(sessionFiles(here.home)).toHaveLength(1);
    expect(await listed(here)).toMatchObject([{ name: "the nightly one" }]);
  });

  test("a name that another session has is refused, until that one is deleted", async () => {
    const here = await openHarness({ replies: { replies: [replyWith("Done.")], repeat: "last" } });
    const [first, second] = [idOf(await here.events(["one"])), idOf(await here.events(["two"]))];
    expect((await here.run(["sessions", "name", first, "nightly"])).code).toBe(0);
    const taken = { code: 2, stderr: expect.stringContaining(`already used by session ${first}. Choose another.`) };
    expect(await here.run(["sessions", "name", second, "nightly"])).toMatchObject(taken);
    expect((await here.run(["sessions", "name", first, "nightly"])).code).toBe(0);
    expect((await here.run(["sessions", "delete", "nightly"])).stdout).toBe(`removed ${first}\n`);
    expect((await here.run(["sessions", "name", second, "nightly"])).code).toBe(0);
  });

  test("delete removes sessions by id or by age, and reports them", async () => {
    const here = await openHarness({ replies: { replies: [replyWith("Done.")], repeat: "last" } });
    const ids = [
      idOf(await here.events(["one"])),
      idOf(await here.events(["two"])),
      idOf(await here.events(["three"])),
    ];
    const [first = "", second = "", third = ""] = ids;
    expect(await here.run(["sessions", "delete", first])).toMatchObject({ code: 0, stdout: `removed ${first}\n` });
    const old = sessionFiles(here.home).find((path) => path.includes(second)) ?? "";
    utimesSync(old, new Date(0), new Date(0));
    expect((await here.run(["sessions", "delete", "--older-than", "30d"])).stdout).toBe(`removed ${second}\n`);
    expect((await listed(here)).map(({ id }) => id)).toEqual([third]);
    for (const wrong of [[], [first], ["--older-than", "soon"]]) {
      expect((await here.run(["sessions", "delete", ...wrong])).code).toBe(2);
    }
  });

  test("several sessions with the same prefix are removed only with --force", async () => {
    const here = await openHarness({ replies: { replies: [replyWith("Done.")], repeat: "last" } });
    const id = idOf(await here.events(["one"]));
    const twin = `${id.slice(0, 35)}${id.endsWith("0") ? "1" : "0"}`;
    const path = here.sessionFile();
    writeFileSync(path.replace(id, twin), readFileSync(path, "utf8").replaceAll(id, twin));
    const refused = await here.run(["sessions", "delete", id.slice(0, 30)]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining("matches 2 sessions") });
    expect((await here.run(["sessions", "delete", "--force", id.slice(0, 30)])).stdout.trim().split("\n")).toHaveLength(
      2,
    );
  });

  test("a session in use is listed as running and not removed", async () => {
    const here = await openHarness({ replies: [stall("after-headers")] });
    const child = here.start(["exec", "--json", "wait"]);
    const over = waitForExit(child);
    await eventually(() => here.requests().length > 0);
    const [running] = await listed(here);
    expect(running).toMatchObject({ status: "running" });
    const refused = await here.run(["sessions", "delete", String(running?.id)]);
    expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining(`in use by process ${child.pid}`) });
    child.kill("SIGTERM");
    expect((await over).code).toBe(143);
    expect(await listed(here)).toMatchObject([{ status: "cancelled" }]);
    expect((await here.run(["sessions", "delete", String(running?.id)])).code).toBe(0);
  });

  test("--last goes by the directory of the latest turn", async () => {
    const here = await openHarness({ replies: { replies: [replyWith("Done.")], repeat: "last" } });
    const other = await temporaryRepository();
    onTestFinished(other.remove);
    const moved = idOf(await here.events(["one"]));
    await here.events(["-C", other.path, "resume", moved, "move"]);
    const stayed = idOf(await here.events(["stays"]));
    expect(idOf(await here.events(["resume", "--last", "who?"]))).toBe(stayed);
    expect(idOf(await here.events(["resume", "--last", "who?"], { cwd: other.path }))).toBe(moved);
  });
});

test("eight runs at once on one home and one repository: no session corrupted, no event lost", async () => {
  const numbers = [1, 2, 3, 4, 5, 6, 7, 8];
  const work = (number: number): Reply[] => [
    { ...replyWith(`Finished ${number}.`), when: { bodyIncludes: `call_of_${number}_b"` } },
    {
      calls: [{ name: "exec_command", arguments: { cmd: `echo two ${number}` }, callId: `call_of_${number}_b` }],
      when: { bodyIncludes: `call_of_${number}_a"` },
    },
    {
      calls: [{ name: "exec_command", arguments: { cmd: `echo one ${number}` }, callId: `call_of_${number}_a` }],
      when: { bodyIncludes: `job number ${number}` },
    },
  ];
  const here = await openHarness({ replies: { replies: numbers.flatMap(work), repeat: "always" } });
  let isOver = false;
  const lists: Promise<void> = (async () => {
    while (!isOver) expect((await here.run(["sessions", "list", "--all"])).code).toBe(0);
  })();
  const results = await Promise.all(numbers.map((number) => here.events([`job number ${number}`])));
  isOver = true;
  await lists;
  for (const [index, { code, events, stdout }] of results.entries()) {
    expect(code).toBe(0);
    expect(stdout.endsWith("\n")).toBe(true);
    expect(events.at(-1)?.type).toBe("turn.completed");
    expect(itemsOf(events, "command_execution").map((item) => item.aggregated_output)).toEqual([
      `one ${index + 1}\n`,
      `two ${index + 1}\n`,
    ]);
    const file = sessionFiles(here.home).find((path) => path.includes(idOf({ events }))) ?? "";
    const lines = jsonLines(readFileSync(file, "utf8")) as { seq: number; record: { type: string } }[];
    expect(lines.map(({ seq }) => seq)).toEqual(lines.map((_, at) => at + 1));
    expect(lines.map(({ record }) => record.type)).toEqual([
      ...["thread.created", "noted", "turn.begun", "model.replied", "tool.begun", "tool.settled"],
      ...["model.replied", "tool.begun", "tool.settled", "model.replied", "turn.ended"],
    ]);
  }
  expect(sessionFiles(here.home)).toHaveLength(8);
  expect(new Set((await listed(here)).map(({ status }) => status))).toEqual(new Set(["completed"]));
});

describe("--worktree", () => {
  const patch = freeform("apply_patch", "*** Begin Patch\n*** Add File: made.txt\n+made\n*** End Patch");
  const write = ["exec", "-m", "gpt-5.4", "-s", "workspace-write", "--worktree", "make it"];
  const trees = async ({ git }: Harness) => (await git("worktree", "list")).trim().split("\n").slice(1);
  const worktreeOf = (stderr: string) => /kept: (\S+) \(branch (\S+)\)/.exec(stderr)?.slice(1) ?? [];

  test("keeps the tree of a run that changed something, and leaves the repository alone", async () => {
    const here = await openHarness({ replies: [patch, replyWith("Made."), replyWith("Again.")] });
    const { code, stdout, stderr } = await here.run(write);
    expect({ code, stdout }).toEqual({ code: 0, stdout: "Made.\n" });
    const [path = "", branch = ""] = worktreeOf(stderr);
    expect(readFileSync(join(path, "made.txt"), "utf8")).toBe("made\n");
    expect(existsSync(join(here.repository, "made.txt"))).toBe(false);
    expect(await here.git("branch", "--list", branch)).toContain(branch);
    expect(stderr).toContain(`Working in a new worktree: ${path}`);
    const again = await here.run(["exec", "resume", "--last", "and?"]);
    expect(again).toMatchObject({ code: 0, stdout: "Again.\n" });
    expect(again.stderr).toContain(`workdir: ${path}`);
    expect(statSync(path).isDirectory()).toBe(true);
  });

  test("removes the tree of a run that changed nothing, and makes it again for a resume", async () => {
    const here = await openHarness({ replies: [replyWith("Looked."), replyWith("Looked again.")] });
    const first = await here.run(["exec", "--worktree", "look"]);
    expect(first.stderr).toContain("unchanged and was removed");
    expect(await trees(here)).toEqual([]);
    const second = await here.run(["exec", "resume", "--last", "again"]);
    expect(second).toMatchObject({ code: 0, stdout: "Looked again.\n" });
    expect(second.stderr).toContain("again");
    expect(await trees(here)).toEqual([]);
  });

  test("cleans it up also when the run fails or cannot start", async () => {
    const here = await openHarness({ replies: [patch, { status: 400, body: "no" }, { status: 400, body: "no" }] });
    const changed = await here.run(write);
    expect(changed.code).toBe(1);
    expect(worktreeOf(changed.stderr)).toHaveLength(2);
    expect((await here.run(["exec", "--worktree", "look"])).code).toBe(1);
    expect((await here.run(["exec", "--worktree", "-c", "model_provider=openai", "look"])).code).toBe(3);
    expect(await trees(here)).toHaveLength(1);
  });

  test("cleans it up when the run is interrupted", async () => {
    const here = await openHarness({ replies: [stall("after-headers")] });
    const child = here.start(["exec", "--worktree", "wait"]);
    const over = waitForExit(child);
    await eventually(() => here.requests().length > 0);
    expect(await trees(here)).toHaveLength(1);
    child.kill("SIGINT");
    expect((await over).code).toBe(130);
    expect(await trees(here)).toEqual([]);
  });

  test("leaves it after a crash, and sessions show names it", async () => {
    const here = await openHarness({ replies: [patch] });
    await here.run(write, { nodeArguments: ["--require", killAtWrite], env: { KILL_AT: "3", KILL_WHEN: "after" } });
    expect(await trees(here)).toHaveLength(1);
    const [session] = await listed(here);
    expect(session).toMatchObject({ status: "interrupted" });
    const { stdout } = await here.run(["sessions", "show", String(session?.id)]);
    expect(stdout).toContain(`worktree: ${session?.worktree} (branch agentcli/`);
  });
});
