import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, freeform, replyWith, type ScriptedCall } from "@agentcli/testkit";
import { type Event, itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import Ajv from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import eventSchema from "../../packages/protocol/generated/exec-event.schema.json" with { type: "json" };
import lineSchema from "../../packages/protocol/generated/session-line.schema.json" with { type: "json" };

const ajv = new Ajv({ strict: false, validateFormats: false });
const isEvent = ajv.compile(eventSchema);
const isSessionLine = ajv.compile(lineSchema);

const editAndRun = [
  call(
    "exec_command",
    { cmd: "cat greeting.txt" },
    { usage: { inputTokens: 100, cachedInputTokens: 40, outputTokens: 5 } },
  ),
  freeform(
    "apply_patch",
    "*** Begin Patch\n*** Update File: greeting.txt\n@@\n-hello\n+hello world\n*** Add File: new.txt\n+made\n*** End Patch",
  ),
  call("exec_command", { cmd: "cat greeting.txt new.txt; exit 3" }),
  replyWith("All done.", { usage: { inputTokens: 200, outputTokens: 7, reasoningOutputTokens: 2 } }),
];

const numberOf = ({ item }: Event): number => Number((item as { id: string }).id.replace("item_", ""));

describe("exec --json", () => {
  test("prints thread, turn, items and usage, each line valid by the published schema", async () => {
    const {
      events: run,
      repository,
      records,
    } = await openHarness({ replies: editAndRun, files: { "greeting.txt": "hello\n" } });
    const { code, events } = await run(["-s", "workspace-write", "change the greeting"]);
    expect(code).toBe(0);
    for (const event of events) expect(isEvent(event), JSON.stringify([event, isEvent.errors])).toBe(true);
    expect(events.map((event) => event.type)).toEqual([
      "thread.started",
      "turn.started",
      "item.started",
      "item.completed",
      "item.started",
      "item.completed",
      "item.started",
      "item.completed",
      "item.completed",
      "turn.completed",
    ]);
    expect(events[0]).toMatchObject({
      schema_version: "1.0",
      sandbox: { mode: "workspace-write", backend: "bubblewrap" },
    });
    expect(itemsOf(events, "command_execution")).toMatchObject([
      {
        id: "item_0",
        command: "/bin/bash -lc 'cat greeting.txt'",
        aggregated_output: "hello\n",
        exit_code: 0,
        status: "completed",
      },
      { aggregated_output: "hello world\nmade\n", exit_code: 3, status: "failed" },
    ]);
    expect(itemsOf(events, "file_change")).toMatchObject([
      {
        changes: [
          { path: "greeting.txt", kind: "update" },
          { path: "new.txt", kind: "add" },
        ],
        status: "completed",
      },
    ]);
    expect(itemsOf(events, "agent_message")).toMatchObject([{ text: "All done." }]);
    expect(readFileSync(join(repository, "greeting.txt"), "utf8")).toBe("hello world\n");
    for (const line of records()) expect(isSessionLine(line), JSON.stringify(isSessionLine.errors)).toBe(true);
  });

  test("usage is the sum of the turn's own requests", async () => {
    const { events: run } = await openHarness({ replies: editAndRun, files: { "greeting.txt": "hello\n" } });
    const { events } = await run(["-s", "workspace-write", "change the greeting"]);
    const { usage, cost_usd } = events.at(-1) as unknown as { usage: Record<string, number>; cost_usd: null };
    expect(usage.input_tokens).toBeGreaterThanOrEqual(300);
    expect(usage.cached_input_tokens).toBeGreaterThanOrEqual(40);
    expect(usage.reasoning_output_tokens).toBeGreaterThanOrEqual(2);
    expect(cost_usd).toBeNull();
  });

  test("the same task gives the same items on every wire", async () => {
    const patch = "*** Begin Patch\n*** Add File: new.txt\n+made\n*** End Patch";
    const commands = ["cat new.txt", "exit 3"].map((cmd) => ({ name: "exec_command", arguments: { cmd } }));
    const replies = [
      {
        reasoning: { summary: ["A file is needed."] },
        messages: ["I make it."],
        calls: [{ name: "apply_patch", arguments: { input: patch } }],
      },
      { reasoning: { summary: ["Look at it."] }, calls: commands },
      call("read_file", { path: "missing.txt" }),
      replyWith("Done."),
    ];
    const items: unknown[] = [];
    for (const wireApi of ["responses", "chat", "anthropic"] as const) {
      const { events: run } = await openHarness({ replies, wireApi });
      const { code, events } = await run(["-s", "workspace-write", "make a file"]);
      expect(code).toBe(0);
      // Calls of one reply may complete in any order.
      items.push(
        events
          .filter(({ type }) => type === "item.completed")
          .toSorted((left, right) => numberOf(left) - numberOf(right)),
      );
    }
    expect(items[1]).toEqual(items[0]);
    expect(items[2]).toEqual(items[0]);
    const first = items[0] as Event[];
    expect(itemsOf(first, "file_change")).toMatchObject([
      { changes: [{ path: "new.txt", kind: "add" }], status: "completed" },
    ]);
    expect(itemsOf(first, "command_execution")).toMatchObject([
      { aggregated_output: "made\n", exit_code: 0 },
      { exit_code: 3, status: "failed" },
    ]);
    expect(itemsOf(first, "reasoning")).toMatchObject([{ text: "A file is needed." }, { text: "Look at it." }]);
    expect(itemsOf(first, "agent_message")).toMatchObject([{ text: "I make it." }, { text: "Done." }]);
  });

  test("a plan is one item that starts, is updated, and completes with the turn", async () => {
    const steps = (status: string) => ({
      plan: [
        { step: "look", status },
        { step: "fix", status: "pending" },
      ],
    });
    const replies = [
      call("update_plan", steps("in_progress")),
      call("update_plan", steps("completed")),
      replyWith("Planned."),
    ];
    const { events: run } = await openHarness({ replies });
    const { events } = await run(["plan it"]);
    const plans = events.filter((event) => (event.item as { type?: string })?.type === "todo_list");
    expect(plans.map((event) => event.type)).toEqual(["item.started", "item.updated", "item.completed"]);
    expect(plans.at(-1)?.item).toMatchObject({
      items: [
        { text: "look", completed: true },
        { text: "fix", completed: false },
      ],
    });
  });

  test("parallel calls of one reply are all executed before the next request", async () => {
    const calls = ["a", "b", "c"].map((name) => ({
      name: "exec_command",
      arguments: { cmd: `echo ${name}` },
      callId: `call_${name}`,
    }));
    const { events: run, requests } = await openHarness({ replies: [{ calls }, replyWith("Three.")] });
    const { events } = await run(["run three"]);
    expect(
      itemsOf(events, "command_execution")
        .map((item) => item.aggregated_output)
        .sort(),
    ).toEqual(["a\n", "b\n", "c\n"]);
    expect(toolOutputs(requests()[1])).toHaveLength(3);
  });
});

describe("exec for people", () => {
  test("standard output holds the final message alone, progress is on standard error", async () => {
    const { run } = await openHarness({ replies: editAndRun, files: { "greeting.txt": "hello\n" } });
    const { code, stdout, stderr } = await run(["exec", "-s", "workspace-write", "change the greeting"]);
    expect(code).toBe(0);
    expect(stdout).toBe("All done.\n");
    expect(stderr).toContain("sandbox: workspace-write");
    expect(stderr).toContain("succeeded in");
    expect(stderr).toContain("exited 3 in");
    expect(stderr).not.toContain("\u001b[");
  });

  test("-o writes the final message to a file as well", async () => {
    const { run, repository } = await openHarness({ replies: [replyWith("For the file.")] });
    const { stdout } = await run(["exec", "-o", "out.txt", "say it"]);
    expect(stdout).toBe("For the file.\n");
    expect(readFileSync(join(repository, "out.txt"), "utf8")).toBe("For the file.");
  });

  test("of two final messages the last is printed", async () => {
    const { run, events } = await openHarness({
      replies: { replies: [{ messages: ["First.", "Second."] }], repeat: "last" },
    });
    expect((await run(["exec", "say two"])).stdout).toBe("Second.\n");
    expect(itemsOf((await events(["say two"])).events, "agent_message")).toHaveLength(2);
  });

  test("--color always adds colors, never does not", async () => {
    const { run } = await openHarness({ replies: { replies: [replyWith("Hi.")], repeat: "last" } });
    expect((await run(["exec", "--color", "always", "hi"])).stderr).toContain("\u001b[");
    expect((await run(["exec", "--color", "never", "hi"])).stderr).not.toContain("\u001b[");
  });

  test("--help and --version work without a model", async () => {
    const { run } = await openHarness();
    expect((await run(["--version"])).stdout).toMatch(/^agentcli \d+\.\d+\.\d+\n$/);
    expect((await run(["exec", "--help"])).stdout).toContain("--sandbox MODE");
    expect((await run(["--help"])).stdout).toContain("exec resume");
  });
});

describe("the prompt", () => {
  const lastPrompt = (requests: { body: unknown }[]) => {
    const body = requests.at(-1)?.body as { input: { content: { text: string }[] }[] } | undefined;
    return body?.input
      .at(-1)
      ?.content.map((part) => part.text)
      .join("");
  };

  test("comes from standard input with -", async () => {
    const { run, requests } = await openHarness({ replies: [replyWith("Ok.")] });
    await run(["exec", "-"], { stdin: "from the pipe" });
    expect(lastPrompt(requests())).toBe("from the pipe");
  });

  test("comes from standard input when there is no argument", async () => {
    const { run, requests } = await openHarness({ replies: [replyWith("Ok.")] });
    await run(["exec"], { stdin: "\ufefffrom the pipe" });
    expect(lastPrompt(requests())).toBe("from the pipe");
  });

  test("takes piped data as context beside an argument", async () => {
    const { run, requests } = await openHarness({ replies: [replyWith("Ok.")] });
    await run(["exec", "explain"], { stdin: "some data" });
    expect(lastPrompt(requests())).toBe("explain\n\n<stdin>\nsome data\n</stdin>");
  });

  test("does not wait for a pipe that stays open", async () => {
    const { start, requests } = await openHarness({
      replies: [replyWith("Ok.")],
      config: '[limits]\nstdin = "100ms"\n',
    });
    const child = start(["exec", "explain"], { stdin: "open" });
    const { waitForExit: ended } = await import("@agentcli/testkit");
    const result = await ended(child);
    expect(result).toMatchObject({ code: 0, stdout: "Ok.\n" });
    expect(result.stderr).toContain("No data on standard input within 100 ms");
    expect(lastPrompt(requests())).toBe("explain");
  });
});

describe("what the model is sent", () => {
  test("a hello request stays under 14 KB and names every tool", async () => {
    const { run, requests } = await openHarness({ replies: [replyWith("Hello.")] });
    await run(["exec", "-m", "gpt-5.4", "hello"]);
    const body = requests()[0]?.body as { tools: { name: string; type: string }[]; [key: string]: unknown };
    expect(JSON.stringify(body).length).toBeLessThan(14_000);
    expect(body.tools.map((tool) => tool.name).sort()).toEqual(
      [
        ...["exec_command", "write_stdin", "apply_patch", "update_plan", "view_image"],
        ...["read_file", "list_dir", "grep_files", "glob", "edit_notebook", "list_sessions", "kill_session"],
        ...["spawn_agent", "send_input", "wait_agent", "close_agent", "resume_agent"],
      ].sort(),
    );
    expect(body.tools.find((tool) => tool.name === "apply_patch")?.type).toBe("custom");
    expect(body).toMatchObject({
      store: false,
      stream: true,
      parallel_tool_calls: true,
      include: ["reasoning.encrypted_content"],
    });
  });

  test("reasoning with encrypted content is passed to the next request", async () => {
    const thinking = {
      reasoning: { summary: ["Let me look."], encrypted: "opaque-blob" },
      calls: [{ name: "exec_command", arguments: { cmd: "true" } }],
    };
    const { events: run, requests } = await openHarness({ replies: [thinking, replyWith("Done.")] });
    const { events } = await run(["think"]);
    expect(itemsOf(events, "reasoning")).toMatchObject([{ text: "Let me look." }]);
    const body = requests()[1]?.body as { input: { type: string; encrypted_content?: string }[] } | undefined;
    const input = body?.input ?? [];
    const kinds = input.map((item) => item.type);
    expect(input.find((item) => item.type === "reasoning")?.encrypted_content).toBe("opaque-blob");
    expect(kinds.indexOf("reasoning")).toBeLessThan(kinds.indexOf("function_call"));
  });

  test("long output is truncated in the middle for the model and complete in the event", async () => {
    const replies = [call("exec_command", { cmd: "seq 1 40000" }), replyWith("Long.")];
    const { events: run, requests } = await openHarness({ replies });
    const { events } = await run(["count"]);
    const [item] = itemsOf(events, "command_execution") as { aggregated_output: string }[];
    expect(item?.aggregated_output.split("\n")).toHaveLength(40_001);
    const [output] = toolOutputs(requests()[1]);
    expect(output).toContain("tokens truncated…");
    expect(output).toContain("\n1\n2\n3\n");
    expect(output).toContain("39999\n40000\n");
    expect(output?.length).toBeLessThan(42_000);
  });

  test("an image is shown to the model as an image", async () => {
    const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
    const { run, requests, repository } = await openHarness({
      replies: [call("view_image", { path: "dot.png" }), replyWith("A dot.")],
    });
    writeFileSync(join(repository, "dot.png"), Buffer.from(png, "base64"));
    expect((await run(["exec", "look"])).code).toBe(0);
    expect(JSON.stringify(requests()[1]?.body)).toContain(`data:image/png;base64,${png}`);
  });

  test("read-only tools read the workspace, and each call is an item", async () => {
    const calls: ScriptedCall[] = [
      { name: "read_file", arguments: { path: "src/a.txt", offset: 2, limit: 1 } },
      { name: "list_dir", arguments: { path: ".", depth: 2 } },
      { name: "grep_files", arguments: { pattern: "tw." } },
    ];
    const { events, requests } = await openHarness({
      replies: [{ calls }, replyWith("Seen.")],
      files: { "src/a.txt": "one\ntwo\nthree\n" },
    });
    const shown = await events(["look"]);
    for (const { name: tool, arguments: args } of calls) {
      const item = { type: "mcp_tool_call", server: "agentcli", tool, arguments: args };
      const find = (type: string) =>
        shown.events.filter((event) => event.type === type && (event.item as { tool?: string }).tool === tool);
      expect(find("item.started")).toMatchObject([{ item: { ...item, status: "in_progress" } }]);
      expect(find("item.completed")).toMatchObject([
        { item: { ...item, status: "completed", result: { content: [{ text: expect.stringContaining("t") }] } } },
      ]);
    }
    for (const event of shown.events) expect(isEvent(event), JSON.stringify(event)).toBe(true);
    const outputs = toolOutputs(requests()[1]).join("\n");
    expect(outputs).toContain("2: two");
    expect(outputs).toContain("src/a.txt");
    expect(outputs).toContain("src/a.txt:2: two");
  });
});

describe("long-running commands", () => {
  test("continue under a session id, take input, and complete their item when they end", async () => {
    const replies = [
      call("exec_command", { cmd: "read line; echo got $line", yield_time_ms: 250 }),
      call("write_stdin", { session_id: 4000, chars: "ping\n", yield_time_ms: 5000 }),
      replyWith("Done."),
    ];
    const { events: run, requests } = await openHarness({ replies });
    const { events } = await run(["talk to it"]);
    expect(toolOutputs(requests()[1])[0]).toContain("Process running with session ID 4000");
    expect(toolOutputs(requests()[2])[1]).toContain("Process exited with code 0");
    expect(itemsOf(events, "command_execution")).toMatchObject([
      { aggregated_output: "got ping\n", exit_code: 0, status: "completed" },
    ]);
  });

  test("run on a real terminal when asked", async () => {
    const { events: run } = await openHarness({
      replies: [call("exec_command", { cmd: "tty && stty size", tty: true }), replyWith("A tty.")],
    });
    const { events } = await run(["which tty"]);
    expect(itemsOf(events, "command_execution")[0]?.aggregated_output).toMatch(/^\/dev\/pts\/\d+\r\n40 120\r\n$/);
  });

  test("one still running at the end is killed with the turn and shown as such", async () => {
    const { events: run } = await openHarness({
      replies: [call("exec_command", { cmd: "sleep 1000", yield_time_ms: 250 }), replyWith("Left it.")],
    });
    const { code, events } = await run(["sleep"]);
    expect(code).toBe(0);
    expect(itemsOf(events, "command_execution")).toMatchObject([
      { exit_code: null, status: "failed", reason: "ended with the turn" },
    ]);
    expect(events.at(-1)?.type).toBe("turn.completed");
  });
});

test("a command that kills its sandbox gets an error, and the next runs in a new one", async () => {
  const { events: run, requests } = await openHarness({
    replies: [
      call("exec_command", { cmd: "kill -9 $PPID; sleep 60" }),
      call("exec_command", { cmd: "echo still here" }),
      replyWith("Done."),
    ],
  });
  const { code, events } = await run(["hi"]);
  expect(code).toBe(0);
  expect(itemsOf(events, "command_execution")).toMatchObject([
    { status: "failed", reason: expect.stringContaining("The workspace was lost") },
    { status: "completed", aggregated_output: "still here\n" },
  ]);
  expect(toolOutputs(requests()[1])[0]).toContain("The outcome of this call is unknown");
});
