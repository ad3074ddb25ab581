import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, jsonLines, type LoggedRequest, say, temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { type Desk, desk, type Event, sessionFiles } from "./harness.ts";

interface Line {
  seq: number;
  at: string;
  record: { type: string; threadId?: string; forkedFrom?: string };
}

const lines = (path: string) => jsonLines(readFileSync(path, "utf8")) as Line[];
const fileOf = ({ home }: Desk, id: unknown) => sessionFiles(home).find((path) => path.endsWith(`${id}.jsonl`)) ?? "";
const input = (request: LoggedRequest | undefined) => ((request?.body ?? { input: [] }) as { input: unknown[] }).input;

async function deskWithParent(...more: ReturnType<typeof say>[]) {
  const replies = [call("exec_command", { cmd: "echo seen" }), say("First."), ...more];
  const here = await desk({ replies });
  const { events } = await here.events(["remember marmalade"]);
  return { here, parent: String(events[0]?.thread_id) };
}

test("a fork begins with what its parent said and did, and the parent stays as it was", async () => {
  const { here, parent } = await deskWithParent(say("Forked."), say("Parent again."));
  const before = readFileSync(fileOf(here, parent), "utf8");
  const { code, events } = await here.events(["fork", parent, "and now?"]);
  expect(code).toBe(0);
  const fork = events[0]?.thread_id;
  expect(events.map(({ type }) => type)).toEqual([
    "thread.started",
    "turn.started",
    "item.completed",
    "turn.completed",
  ]);
  expect(fork).not.toBe(parent);
  expect(readFileSync(fileOf(here, parent), "utf8")).toBe(before);
  const [first, ...rest] = lines(fileOf(here, fork));
  expect(first?.record).toMatchObject({ type: "thread.created", threadId: fork, forkedFrom: parent });
  const copied = lines(fileOf(here, parent)).slice(1);
  expect(rest.slice(0, copied.length)).toEqual(copied);
  expect(rest.map(({ seq }) => seq)).toEqual(rest.map((_, index) => index + 2));
  const [, second, forked] = here.requests();
  expect(input(forked).slice(0, input(second).length)).toEqual(input(second));
  expect((await here.run(["exec", "resume", parent, "go on"])).stdout).toBe("Parent again.\n");
  expect(JSON.stringify(input(here.requests()[3]))).not.toContain("and now?");
});

test("without a prompt the thread is only made: with --json its event, else its id", async () => {
  const { here, parent } = await deskWithParent(say("Later."));
  const { events, code } = await here.events(["fork", parent]);
  expect({ code, types: events.map(({ type }: Event) => type) }).toEqual({ code: 0, types: ["thread.started"] });
  expect(events[0]).toMatchObject({ schema_version: "1.0", sandbox: { mode: "read-only" } });
  const { stdout } = await here.run(["exec", "fork", parent]);
  expect(sessionFiles(here.home)).toHaveLength(3);
  expect((await here.run(["exec", "resume", stdout.trim(), "now"])).stdout).toBe("Later.\n");
  expect(here.requests()).toHaveLength(3);
});

test("the prompt of a fork may come from standard input", async () => {
  const { here, parent } = await deskWithParent(say("Piped."));
  expect((await here.run(["exec", "fork", parent, "-"], { stdin: "from a pipe" })).stdout).toBe("Piped.\n");
  expect(JSON.stringify(input(here.requests()[2]))).toContain("from a pipe");
});

test("a turn that was cut off is not part of a fork", async () => {
  const { here, parent } = await deskWithParent(say("Clean."));
  const path = fileOf(here, parent);
  const begun = lines(path).find(({ record }) => record.type === "turn.begun");
  const open = { v: 1, seq: 7, at: "2026-01-01T00:00:00.000Z", record: { ...begun?.record, turnId: "cut-off" } };
  writeFileSync(path, `${readFileSync(path, "utf8")}${JSON.stringify(open)}\n`);
  const { code, events } = await here.events(["fork", parent, "on"]);
  expect(code).toBe(0);
  expect(readFileSync(fileOf(here, events[0]?.thread_id), "utf8")).not.toContain("cut-off");
});

test("a fork by name, and one that leaves nothing behind", async () => {
  const { here, parent } = await deskWithParent(say("By name."));
  await here.run(["sessions", "name", parent, "nightly"]);
  expect((await here.run(["exec", "fork", "--ephemeral", "nightly", "try"])).stdout).toBe("By name.\n");
  expect(sessionFiles(here.home)).toHaveLength(1);
});

test("a fork that cannot begin leaves nothing behind and says why", async () => {
  const { here, parent } = await deskWithParent();
  const elsewhere = await temporaryDirectory();
  onTestFinished(elsewhere.remove);
  const refusals: [string[], number, string][] = [
    [["exec", "fork", "0198c0de-0000-7000-8000-000000000000"], 2, "There is no session"],
    [["exec", "fork"], 2, "Which session?"],
    [["exec", "fork", "--ephemeral", parent], 2, "need a prompt"],
    [["exec", "fork", parent, "x", "-c", "model_provider=openai"], 3, "No credentials"],
    [["exec", "fork", parent, "x", "-C", join(elsewhere.path, "missing")], 2, "does not exist"],
  ];
  for (const [args, exit, message] of refusals) {
    const { code, stderr } = await here.run(args);
    expect({ code, stderr }).toEqual({ code: exit, stderr: expect.stringContaining(message) });
  }
  expect(sessionFiles(here.home)).toHaveLength(1);
});

test("a fork that works elsewhere is told so", async () => {
  const { here, parent } = await deskWithParent(say("There."));
  const other = await temporaryDirectory();
  onTestFinished(other.remove);
  const { code } = await here.run(["exec", "fork", parent, "look", "--skip-git-repo-check", "-C", other.path]);
  expect(code).toBe(0);
  expect(JSON.stringify(input(here.requests()[2]).slice(-3))).toContain(`<cwd>${other.path}</cwd>`);
});
