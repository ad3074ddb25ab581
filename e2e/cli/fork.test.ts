import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, jsonLines, type LoggedRequest, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { type Event, type Harness, openHarness, sessionFiles } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";

interface Line {
  seq: number;
  at: string;
  record: { type: string; threadId?: string; forkedFrom?: string };
}

const lines = (path: string) => jsonLines(readFileSync(path, "utf8")) as Line[];
const fileOf = ({ home }: Harness, id: unknown) =>
  sessionFiles(home).find((path) => path.endsWith(`${id}.jsonl`)) ?? "";
const input = (request: LoggedRequest | undefined) => ((request?.body ?? { input: [] }) as { input: unknown[] }).input;

async function openParentHarness(...more: ReturnType<typeof replyWith>[]) {
  const replies = [call("exec_command", { cmd: "echo seen" }), replyWith("First."), ...more];
  const here = await openHarness({ replies });
  const { events } = await here.events(["remember marmalade"]);
  return { here, parent: String(events[0]?.thread_id) };
}

test("a fork starts with the history of its parent, and the parent is unchanged", async () => {
  const { here, parent } = await openParentHarness(replyWith("Forked."), replyWith("Parent again."));
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

test("without a prompt the thread is only created: prints its event with --json, else its id", async () => {
  const { here, parent } = await openParentHarness(replyWith("Later."));
  const { events, code } = await here.events(["fork", parent]);
  expect({ code, types: events.map(({ type }: Event) => type) }).toEqual({ code: 0, types: ["thread.started"] });
  expect(events[0]).toMatchObject({ schema_version: "1.0", sandbox: { mode: "read-only" } });
  const { stdout } = await here.run(["exec", "fork", parent]);
  expect(sessionFiles(here.home)).toHaveLength(3);
  expect((await here.run(["exec", "resume", stdout.trim(), "now"])).stdout).toBe("Later.\n");
  expect(here.requests()).toHaveLength(3);
});

test("the prompt of a fork may come from standard input", async () => {
  const { here, parent } = await openParentHarness(replyWith("Piped."));
  expect((await here.run(["exec", "fork", parent, "-"], { stdin: "from a pipe" })).stdout).toBe("Piped.\n");
  expect(JSON.stringify(input(here.requests()[2]))).toContain("from a pipe");
});

test("an interrupted turn is not part of a fork", async () => {
  const { here, parent } = await openParentHarness(replyWith("Clean."));
  const path = fileOf(here, parent);
  const records = lines(path);
  const begun = records.find(({ record }) => record.type === "turn.begun");
  const open = {
    v: 1,
    seq: records.length + 1,
    at: "2026-01-01T00:00:00.000Z",
    record: { ...begun?.record, turnId: "cut-off" },
  };
  writeFileSync(path, `${readFileSync(path, "utf8")}${JSON.stringify(open)}\n`);
  const { code, events } = await here.events(["fork", parent, "on"]);
  expect(code).toBe(0);
  expect(readFileSync(fileOf(here, events[0]?.thread_id), "utf8")).not.toContain("cut-off");
});

test("a fork by name, and an ephemeral one", async () => {
  const { here, parent } = await openParentHarness(replyWith("By name."));
  await here.run(["sessions", "name", parent, "nightly"]);
  expect((await here.run(["exec", "fork", "--ephemeral", "nightly", "try"])).stdout).toBe("By name.\n");
  expect(sessionFiles(here.home)).toHaveLength(1);
});

test("a fork that cannot start leaves nothing behind and gives a reason", async () => {
  const { here, parent } = await openParentHarness();
  const elsewhere = await temporaryDirectory();
  onTestFinished(elsewhere.remove);
  const refusals: [string[], number, string][] = [
    [["exec", "fork", "0198c0de-0000-7000-8000-000000000000"], 2, "There is no session"],
    [["exec", "fork"], 2, "No session given."],
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

test("a fork in another directory gets that directory in its prompt", async () => {
  const { here, parent } = await openParentHarness(replyWith("There."));
  const other = await temporaryDirectory();
  onTestFinished(other.remove);
  const { code } = await here.run(["exec", "fork", parent, "look", "--skip-git-repo-check", "-C", other.path]);
  expect(code).toBe(0);
  expect(JSON.stringify(input(here.requests()[2]).slice(-3))).toContain(`<cwd>${other.path}</cwd>`);
});
