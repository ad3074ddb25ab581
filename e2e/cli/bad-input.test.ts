import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, garbage, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { itemsOf, openHarness, sessionFiles, toolOutputs } from "@agentcli/testkit/cli";
import { describe, expect, onTestFinished, test } from "vitest";

const stackTrace = /\n\s+at .+:\d+:\d+/;

describe("an invalid command line ends with exit code 2 and a hint", () => {
  test.each([
    ["an unknown flag", ["exec", "--modle", "x", "hi"], "Unknown flag --modle. Did you mean --model?"],
    ["a flag without its value", ["exec", "hi", "--model"], "--model needs a value"],
    ["a bad choice", ["exec", "-s", "everything", "hi"], "read-only, workspace-write, danger-full-access"],
    ["an unknown command", ["exce", "hi"], 'There is no command "exce"'],
    ["an unknown provider", ["exec", "-c", "model_provider=nowhere", "hi"], 'Unknown model provider "nowhere"'],
    ["an empty prompt", ["exec", "  "], "The prompt is empty"],
    ["a missing directory", ["exec", "-C", "missing/dir", "hi"], "missing/dir does not exist"],
    ["a -c without =", ["exec", "-c", "model", "hi"], "-c model: expected key=value"],
    ["a -c of the wrong type", ["exec", "-c", "model=3", "hi"], "-c: model must be string"],
    ["a prompt of several words without quotes", ["exec", "fix", "the", "test"], "Quote a prompt"],
    ["an unknown session", ["exec", "resume", "0198c0de-0000-7000-8000-000000000000", "hi"], "There is no session"],
    ["a model without a name", ["exec", "-m", "", "hi"], "The model name is empty"],
    ["less than one request", ["exec", "--budget", "turns=0.5", "hi"], "--budget turns=0.5: expected a whole number"],
    ["a budget beyond counting", ["exec", "--budget", "turns=1e30", "hi"], "expected a whole number"],
    ["a resume of nothing", ["exec", "resume", "--last", "hi"], "There is no session to resume"],
  ])("%s", async (_, args, message) => {
    const { run, requests } = await openHarness();
    const { code, stdout, stderr } = await run(args);
    expect(stderr).toContain(message);
    expect(stderr).not.toMatch(stackTrace);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(requests()).toEqual([]);
  });

  test("no prompt at all", async () => {
    const { run } = await openHarness();
    const { code, stderr } = await run(["exec"], { stdin: "" });
    expect(code).toBe(2);
    expect(stderr).toContain("No prompt came from standard input");
  });

  test("a directory outside any repository", async () => {
    const { run } = await openHarness({ replies: [replyWith("Here.")] });
    const elsewhere = await temporaryDirectory();
    onTestFinished(elsewhere.remove);
    const refused = await run(["exec", "hi"], { cwd: elsewhere.path });
    expect(refused.code).toBe(2);
    expect(refused.stderr).toContain("--skip-git-repo-check");
    expect((await run(["exec", "--skip-git-repo-check", "hi"], { cwd: elsewhere.path })).stdout).toBe("Here.\n");
  });

  test("a config file that is not TOML, or cannot be read", async () => {
    const { run, home } = await openHarness();
    writeFileSync(join(home, "config.toml"), "model = \n");
    const broken = await run(["exec", "hi"]);
    expect(broken.code).toBe(2);
    expect(broken.stderr).toContain("config.toml is not valid TOML");
    const other = await temporaryDirectory();
    onTestFinished(other.remove);
    mkdirSync(join(other.path, "config.toml"));
    chmodSync(other.path, 0o755);
    const unreadable = await run(["exec", "hi"], { env: { AGENT_HOME: other.path } });
    expect(unreadable.code).toBe(2);
    expect(unreadable.stderr).toContain("config.toml cannot be read");
  });

  test("a prompt of 5 MB", async () => {
    const { run, requests } = await openHarness();
    const { code, stderr } = await run(["exec", "-"], { stdin: "x".repeat(5_000_000) });
    expect(code).toBe(2);
    expect(stderr).toContain("5000000 characters; the limit is 1048576");
    expect(requests()).toEqual([]);
  });

  test("binary data on standard input", async () => {
    const { run } = await openHarness();
    const { code, stderr } = await run(["exec", "look"], {
      stdin: Buffer.from([0x7f, 0x45, 0x4c, 0x46, 0, 1, 2, 0xff]),
    });
    expect(code).toBe(2);
    expect(stderr).toContain("Standard input is not text");
  });

  test("with --json it is one error event", async () => {
    const { run } = await openHarness();
    const { code, stdout } = await run(["exec", "--json", "-C", "missing", "hi"]);
    expect(code).toBe(2);
    expect(
      stdout
        .trim()
        .split("\n")
        .map((line) => JSON.parse(line)),
    ).toMatchObject([{ type: "error" }]);
  });
});

test("without credentials the program names three options and ends with exit code 3", async () => {
  const { run } = await openHarness();
  const { code, stderr } = await run(["exec", "-c", "model_provider=openai", "hi"]);
  expect(code).toBe(3);
  for (const way of ["AGENT_API_KEY", "--oss", "--model practice"]) expect(stderr).toContain(way);
  expect(stderr.trim().split("\n").length).toBeLessThan(10);
});

test("a missing key variable is named", async () => {
  const { run } = await openHarness();
  const { code, stderr } = await run(["exec", "-c", "model_providers.scripted.env_key=MISSING_KEY", "hi"]);
  expect(code).toBe(3);
  expect(stderr).toContain("MISSING_KEY");
});

describe("a model that misbehaves", () => {
  test("an unknown tool is reported to the model and shown as an item", async () => {
    const { events: run, requests } = await openHarness({
      replies: [call("teleport", { to: "mars" }), replyWith("No such tool.")],
    });
    const { code, events } = await run(["go"]);
    expect(code).toBe(0);
    expect(toolOutputs(requests()[1])[0]).toMatch(/^unsupported call: teleport\nAvailable tools: exec_command, /);
    expect(itemsOf(events, "error")).toMatchObject([{ message: "unsupported call: teleport" }]);
  });

  test("arguments that are not JSON are reported to the model and shown as a failed item", async () => {
    const { events: run, requests } = await openHarness({
      replies: [call("exec_command", '{"cmd": '), replyWith("Sorry.")],
    });
    const { code, events } = await run(["go"]);
    expect(code).toBe(0);
    expect(toolOutputs(requests()[1])[0]).toContain("arguments are not valid JSON");
    expect(itemsOf(events, "command_execution")).toMatchObject([{ status: "failed" }]);
  });

  test("arguments of the wrong shape are named", async () => {
    const { events: run, requests } = await openHarness({
      replies: [call("exec_command", { command: "ls" }), replyWith("Sorry.")],
    });
    await run(["go"]);
    expect(toolOutputs(requests()[1])[0]).toMatch(/invalid arguments for exec_command: .*cmd/);
  });

  test("no message at all is a failure, exit code 11", async () => {
    const { events: run } = await openHarness({ replies: [{ messages: [] }] });
    const { code, events } = await run(["say something"]);
    expect(code).toBe(11);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "empty" } });
  });

  test("messages keep their phase; commentary alone is not an answer, exit code 11", async () => {
    const commentary = { text: "Looking around.", phase: "commentary" as const };
    const { events: run } = await openHarness({ replies: [{ messages: [commentary] }] });
    const { code, events } = await run(["say something"]);
    expect(code).toBe(11);
    expect(itemsOf(events, "agent_message")).toMatchObject([commentary]);
  });

  test.each([
    ["alone", [""]],
    ["after others", ["First message", ""]],
  ])("an empty last message %s is an item and the answer", async (_, messages) => {
    const { events: run, home } = await openHarness({ replies: [{ messages }] });
    const { code, events } = await run(["-o", join(home, "answer.txt"), "say something"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "agent_message").map(({ text }) => text)).toEqual(messages);
    expect(readFileSync(join(home, "answer.txt"), "utf8")).toBe("");
  });

  test("garbage instead of a stream fails after its retries, exit code 1", async () => {
    const config = "stream_max_retries = 1\n";
    const replies = {
      replies: [garbage("data: {not json}\n\ndata: [[[\n\n", "text/event-stream")],
      repeat: "last" as const,
    };
    const { events: run, requests, home } = await openHarness({ replies, config });
    const { code, events } = await run(["hi"]);
    expect(code).toBe(1);
    expect(events.filter((event) => event.type === "error")).toHaveLength(1);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "protocol" } });
    expect(requests()).toHaveLength(2);
    expect(sessionFiles(home)).toHaveLength(1);
  });

  test("writing in a read-only run is declined, reported to the model and shown", async () => {
    const patch = { input: "*** Begin Patch\n*** Add File: a.txt\n+a\n*** End Patch" };
    const { events: run, requests } = await openHarness({
      replies: [call("apply_patch", patch), replyWith("Could not.")],
    });
    const { code, events } = await run(["write"]);
    expect(code).toBe(0);
    expect(toolOutputs(requests()[1])[0]).toContain("writing is blocked by read-only sandbox");
    expect(itemsOf(events, "file_change")).toMatchObject([
      { status: "declined", changes: [{ path: "a.txt", kind: "add" }] },
    ]);
  });

  test("a request for escalation is declined, reported to the model and shown", async () => {
    const args = { cmd: "id", sandbox_permissions: "require_escalated", justification: "please" };
    const { events: run } = await openHarness({ replies: [call("exec_command", args), replyWith("Could not.")] });
    const { events } = await run(["escalate"]);
    expect(itemsOf(events, "command_execution")).toMatchObject([{ status: "declined", exit_code: null }]);
  });
});

describe("a failing provider", () => {
  test.each([
    [401, 3, "auth", 1],
    [403, 3, "auth", 1],
    [429, 4, "rate_limited", 3],
    [500, 4, "overloaded", 3],
    [400, 1, "refused", 1],
  ])("HTTP %i ends with exit code %i and code %s after %i requests", async (status, exit, code, count) => {
    const replies = { replies: [{ status, body: { error: { message: "no" } } }], repeat: "last" as const };
    const { events: run, requests } = await openHarness({ replies, config: "request_max_retries = 2\n" });
    const result = await run(["hi"]);
    expect(result.code).toBe(exit);
    expect(result.events.at(-1)).toMatchObject({ type: "turn.failed", error: { code } });
    expect(requests()).toHaveLength(count);
  });

  test("a refused connection ends with exit code 4", async () => {
    const { events: run } = await openHarness();
    const url = "http://127.0.0.1:9/v1";
    const { code, events } = await run([
      "-c",
      `model_providers.scripted.base_url="${url}"`,
      "-c",
      "model_providers.scripted.request_max_retries=1",
      "hi",
    ]);
    expect(code).toBe(4);
    expect(events.at(-1)).toMatchObject({ type: "turn.failed", error: { code: "network" } });
  });
});

describe("-o FILE", () => {
  test.each([
    ["a directory", ".", "it is a directory"],
    ["a file in a missing directory", "missing/answer.txt", "missing does not exist. Create it first"],
    ["a file below a file", "config.toml/answer.txt", "Choose a file that you may write"],
  ])("that is %s is refused before the model is asked", async (_, file, message) => {
    const { run, home, requests } = await openHarness({ replies: [replyWith("Hi.")] });
    const { code, stderr } = await run(["exec", "-o", join(home, file), "hi"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining(message) });
    expect(requests()).toEqual([]);
  });

  test("has no earlier answer after a failed run", async () => {
    const { run, home } = await openHarness({ replies: { replies: [{ status: 401 }], repeat: "always" } });
    const file = join(home, "answer.txt");
    writeFileSync(file, "an old answer");
    expect((await run(["exec", "-o", file, "hi"])).code).toBe(3);
    expect(readFileSync(file, "utf8")).toBe("");
  });

  test("may be a device", async () => {
    const { run } = await openHarness({ replies: [replyWith("Hi.")] });
    expect(await run(["exec", "-o", "/dev/null", "hi"])).toMatchObject({ code: 0, stdout: "Hi.\n" });
  });
});
