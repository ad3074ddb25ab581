import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { eventually, temporaryDirectory } from "@agentcli/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { fake, guardVerdict, openHarness, textOf } from "./harness.ts";

async function traceFile(): Promise<string> {
  const directory = await temporaryDirectory();
  onTestFinished(directory.remove);
  return join(directory.path, "trace");
}

/** A zombie is not alive. */
const isAlive = (pid: number): boolean =>
  existsSync(`/proc/${pid}/stat`) && !/\) Z /.test(readFileSync(`/proc/${pid}/stat`, "utf8"));

describe("a server that is a process", () => {
  test("is started, lists its tools in pages, and answers calls", async () => {
    const { servers, call, tool } = await openHarness({ fake: fake() });
    expect(await servers.started()).toEqual([{ name: "fake", status: "ready", reason: null }]);
    expect(servers.tools()).toHaveLength(19 + 3 + 2);
    expect(tool("dotted.name").name).toBe("mcp__fake__dotted_name");
    const outcome = await call("echo", { message: "hello" });
    expect(outcome).toMatchObject({
      status: "completed",
      detail: {
        kind: "mcp",
        server: "fake",
        tool: "echo",
        arguments: { message: "hello" },
        result: { content: [{ type: "text", text: "hello" }], structuredContent: null },
        error: null,
      },
    });
    expect(textOf(outcome)).toMatch(/^Wall time: \d+\.\d{4} seconds\nOutput:\nhello$/);
  });

  test("gets few variables: its own, those passed by name, and a fixed list", async () => {
    const { servers, call } = await openHarness({ fake: { ...fake(), env: { OWN: "mine" }, env_vars: ["FORWARDED"] } });
    await servers.started();
    const { OWN, FORWARDED, WITHHELD, PATH } = JSON.parse(textOf(await call("env")).split("Output:\n")[1] ?? "");
    expect({ OWN, FORWARDED, WITHHELD }).toEqual({ OWN: "mine", FORWARDED: "passed on", WITHHELD: undefined });
    expect(PATH).toBe(process.env.PATH);
  });

  test("gets the root, and its elicitation request is declined", async () => {
    const { servers, call, directory } = await openHarness({ fake: fake() });
    await servers.started();
    expect(textOf(await call("roots"))).toContain(`"uri":"file://${directory}"`);
    expect(textOf(await call("ask"))).toContain('{"action":"decline"}');
  });

  test("may print other output between its messages", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    expect(textOf(await call("noise"))).toContain("after the noise");
  });

  test("offers only the tools that are enabled and not disabled", async () => {
    const { servers } = await openHarness({
      fake: { ...fake(), enabled_tools: ["echo", "write", "huge"], disabled_tools: ["huge"] },
    });
    await servers.started();
    expect(servers.tools().flatMap((tool) => tool.mcp?.tool ?? [])).toEqual(["echo", "write"]);
  });

  test("is ended when the servers are closed, with what it started", async () => {
    const trace = await traceFile();
    const { servers, call } = await openHarness({ fake: fake(`trace=${trace}`) });
    await servers.started();
    const child = Number(textOf(await call("child")).match(/\d+$/)?.[0]);
    expect(isAlive(child)).toBe(true);
    await servers.close();
    const pid = Number(readFileSync(trace, "utf8").match(/start (\d+)/)?.[1]);
    expect([isAlive(pid), isAlive(child)]).toEqual([false, false]);
  });
});

describe("a result", () => {
  test("of nine megabytes is truncated for the model and bounded for programs", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    const outcome = await call("huge", {}, { outputTokens: 100 });
    expect(textOf(outcome).length).toBeLessThan(1_000);
    expect(textOf(outcome)).toMatch(/begin.*tokens truncated.*end$/s);
    const kept = JSON.stringify(outcome.detail);
    expect(kept.length).toBeLessThan(8.1 * 1024 * 1024);
    expect(kept).toMatch(/beginx+/);
    expect(kept).toContain("characters left out");
  });

  test("that is cut for the model is kept in a file that the answer names", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    const path = textOf(await call("huge", {}, { outputTokens: 100 })).match(
      /Output size: 1 line, 9\.0 MB; .* All of it is in (\S+): read it with read_file/,
    )?.[1];
    expect(readFileSync(path ?? "", "utf8")).toBe(`begin${"x".repeat(9_000_000)}end`);
  });

  test("with structured content is only that content", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    const outcome = await call("structured");
    expect(textOf(outcome)).toMatch(/Output:\n\{"sum":8,"list":\[1,2\]\}$/);
    expect(outcome.detail).toMatchObject({ result: { structuredContent: { sum: 8, list: [1, 2] } } });
  });

  test("with an image passes the image on", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    const { parts } = await call("image");
    expect(parts).toEqual([
      expect.objectContaining({ type: "text", text: expect.stringContaining("[image image/png, 70 bytes]\na pixel") }),
      expect.objectContaining({ type: "image", url: expect.stringMatching(/^data:image\/png;base64,iVBOR/) }),
    ]);
  });

  test("that reports an error is a failed outcome with the result kept", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    const outcome = await call("fails");
    expect(outcome).toMatchObject({
      status: "failed",
      detail: { error: null, result: { content: [{ type: "text" }] } },
    });
    expect(textOf(outcome)).toContain("there is no such row");
  });

  test("that is a protocol error is a failed outcome that names the server", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    const outcome = await call("refuse");
    expect(outcome).toMatchObject({ status: "failed", detail: { error: "MCP server fake: not today (-32000)" } });
  });
});

describe("a failure", () => {
  test("a crash in the middle of a call is a failed outcome, and the next call starts the server again", async () => {
    const trace = await traceFile();
    const { servers, call, tool } = await openHarness({ fake: fake(`trace=${trace}`) });
    await servers.started();
    const echo = tool("echo");
    const crashed = await call("crash");
    expect(crashed).toMatchObject({ status: "failed" });
    expect(textOf(crashed)).toContain("exit code 7: out of luck. The call may have taken effect or not.");
    const again = await echo.run({ message: "back" }, {
      toolTimeoutMs: null,
      outputTokens: 99,
      signal: new AbortController().signal,
    } as never);
    expect(textOf(again)).toContain("back");
    expect(readFileSync(trace, "utf8").match(/start/g)).toHaveLength(2);
  });

  test("processes that a crashed server started are ended", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    const child = Number(textOf(await call("child")).match(/\d+$/)?.[0]);
    await call("crash");
    await eventually(() => !isAlive(child));
  });

  test("a crashed server's tools still need the same approvals", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    await call("crash");
    expect(await guardVerdict(servers, "mcp__fake__write")).toMatchObject({ kind: "declined" });
  });

  test("a tool that its server describes in another way once it is started again is not called", async () => {
    const { servers, call } = await openHarness({ fake: fake(`altered=${await traceFile()}`) });
    await servers.started();
    expect(textOf(await call("echo", { message: "first" }))).toContain("first");
    await call("crash");
    const outcome = await call("echo", { message: "second" });
    expect(outcome).toMatchObject({ status: "failed" });
    expect(textOf(outcome)).toContain("the tool changed when the server was started again, so it was not called");
    expect(await guardVerdict(servers, "mcp__fake__echo")).toMatchObject({ kind: "declined" });
    expect(textOf(await call("erase"))).toContain("erased");
  });

  test("a call that is stopped while its server restarts ends at once", async () => {
    const { servers, call } = await openHarness({ fake: fake("slow=100") });
    await servers.started();
    await call("crash");
    const stop = new AbortController();
    const outcome = call("echo", {}, { signal: stop.signal });
    stop.abort();
    expect(textOf(await outcome)).toContain("the call was cancelled");
  });

  test("a server that cannot be restarted is tried once, then every call fails at once", async () => {
    const { servers, tool } = await openHarness({ fake: fake(`startOnce=${await traceFile()}`) });
    await servers.started();
    const context = { toolTimeoutMs: null, outputTokens: 99, signal: new AbortController().signal } as never;
    const echo = tool("echo");
    await tool("crash").run({}, context);
    expect(textOf(await echo.run({}, context))).toContain("exit code 4");
    expect(textOf(await echo.run({}, context))).toContain("it is not running: its process ended with exit code 4");
  });

  test("a call that takes too long is cancelled and says so", async () => {
    const trace = await traceFile();
    const { servers, call } = await openHarness({ fake: { ...fake(`trace=${trace}`), tool_timeout_sec: 0.2 } });
    await servers.started();
    expect(textOf(await call("hang"))).toContain("tools/call timed out after 0.2 s. The call was cancelled");
    await eventually(() => readFileSync(trace, "utf8").includes("cancelled"));
  });

  test("progress keeps a slow call alive, but not beyond the limit for tools", async () => {
    const { servers, call } = await openHarness({ fake: { ...fake(), tool_timeout_sec: 1.5 } });
    await servers.started();
    expect(textOf(await call("slow"))).toContain("slow but sure");
    expect(textOf(await call("slow", {}, { toolTimeoutMs: 300 }))).toContain("timed out after 0.3 s");
  });

  test("an aborted call ends at once and is cancelled at the server", async () => {
    const trace = await traceFile();
    const { servers, call } = await openHarness({ fake: fake(`trace=${trace}`) });
    await servers.started();
    const stop = new AbortController();
    const outcome = call("hang", {}, { signal: stop.signal });
    await eventually(() => existsSync(trace) && readFileSync(trace, "utf8").includes("call hang"));
    stop.abort();
    expect(await outcome).toMatchObject({ status: "failed" });
    await eventually(() => readFileSync(trace, "utf8").includes("cancelled"));
  });

  test("a server that does not exist, exits at once or speaks another version has failed, with the reason", async () => {
    const { servers } = await openHarness({
      absent: { command: "no-such-program-anywhere" },
      dies: fake("die=1"),
      odd: fake("version=1999-01-01"),
    });
    expect(await servers.started()).toEqual([
      {
        name: "absent",
        status: "failed",
        reason: expect.stringContaining("no-such-program-anywhere was not found on PATH"),
      },
      { name: "dies", status: "failed", reason: "its process ended with exit code 3: no database to connect to" },
      {
        name: "odd",
        status: "failed",
        reason: expect.stringContaining('unsupported MCP protocol version "1999-01-01"'),
      },
    ]);
    expect(servers.tools().filter((tool) => tool.mcp)).toEqual([]);
  });

  test("an optional server that is slow is late and its tools join afterwards; a required one has failed", async () => {
    const { servers } = await openHarness({
      late: { ...fake("slow=500", "tools=echo"), startup_timeout_sec: 0.1 },
      needed: { ...fake("slow=500"), startup_timeout_sec: 0.1, required: true },
    });
    expect(await servers.started()).toEqual([
      { name: "late", status: "late", reason: "it was not ready within 0.1 s; its tools join on the next turn" },
      { name: "needed", status: "failed", reason: "it was not ready within 0.1 s" },
    ]);
    await eventually(() => servers.tools().some((tool) => tool.name === "mcp__late__echo"));
  });

  test("closing while a server is still starting leaves no process", async () => {
    const trace = await traceFile();
    const { servers } = await openHarness({ fake: fake("slow=60000", `trace=${trace}`) });
    await eventually(() => existsSync(trace));
    await servers.close();
    expect(isAlive(Number(readFileSync(trace, "utf8").match(/start (\d+)/)?.[1]))).toBe(false);
  });
});

describe("what is offered", () => {
  test("a tool that appears joins the list for the next turn", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    await call("grow");
    await eventually(() => servers.tools().some((tool) => tool.mcp?.tool === "grown"));
    expect(textOf(await call("grown"))).toContain("grown up");
  });

  test("resources and prompts can be listed and read", async () => {
    const { servers, call } = await openHarness({ fake: fake() });
    await servers.started();
    expect(textOf(await call("list_mcp_resources"))).toBe(
      '{"resources":[{"server":"fake","uri":"memo://one","name":"One","mimeType":"text/plain"}]}',
    );
    expect(textOf(await call("list_mcp_resource_templates", { server: "fake" }))).toContain("memo://{id}");
    expect(textOf(await call("read_mcp_resource", { server: "fake", uri: "memo://one" }))).toContain(
      "memo at memo://one",
    );
    expect(textOf(await call("read_mcp_resource", { server: "other", uri: "x" }))).toContain(
      'unknown MCP server "other"; available are fake',
    );
    expect(textOf(await call("list_mcp_prompts"))).toContain("greet");
    expect(textOf(await call("get_mcp_prompt", { server: "fake", name: "greet", arguments: { who: "Ada" } }))).toBe(
      "user: Greet Ada.",
    );
  });

  test("tools marked read-only run without approval; others are declined, unless configured", async () => {
    const { servers } = await openHarness({
      fake: { ...fake("tools=echo,write"), tools: {} },
      open: {
        ...fake("tools=echo,write"),
        default_tools_approval_mode: "approve",
        tools: { write: { approval_mode: "writes" } },
      },
      shut: {
        ...fake("tools=echo,write"),
        default_tools_approval_mode: "prompt",
        tools: { write: { approval_mode: "approve" } },
      },
    });
    await servers.started();
    const verdicts = await Promise.all(
      ["fake__echo", "fake__write", "open__echo", "open__write", "shut__echo", "shut__write"].map(async (name) => [
        name,
        (await guardVerdict(servers, `mcp__${name}`)).kind,
      ]),
    );
    expect(Object.fromEntries(verdicts)).toEqual({
      fake__echo: "allowed",
      fake__write: "declined",
      open__echo: "allowed",
      open__write: "declined",
      shut__echo: "declined",
      shut__write: "allowed",
    });
    expect(await guardVerdict(servers, "mcp__fake__write")).toMatchObject({
      reason: expect.stringMatching(
        /^MCP tool call requires approval, but approval policy is never\. .*mcp_servers\.fake\.tools\.write\.approval_mode = "approve"/,
      ),
    });
    expect(await guardVerdict(servers, "apply_patch")).toMatchObject({ kind: "declined" });
    expect(await guardVerdict(servers, "mcp__gone__tool")).toMatchObject({ kind: "declined" });
  });

  test("ends for a tool whose definition changes while the server runs, also where every call was approved", async () => {
    const { servers, call } = await openHarness({
      fake: fake(),
      open: { ...fake(), default_tools_approval_mode: "approve" },
    });
    await servers.started();
    for (const server of ["fake", "open"]) {
      const echo = `mcp__${server}__echo`;
      expect(await guardVerdict(servers, echo)).toMatchObject({ kind: "allowed" });
      await call(`mcp__${server}__alter`);
      await expect
        .poll(() => guardVerdict(servers, echo))
        .toEqual({
          kind: "declined",
          reason: `the tool echo of ${server} changed after it was approved; check it and start a new run`,
        });
      expect(await guardVerdict(servers, `mcp__${server}__huge`)).toMatchObject({ kind: "allowed" });
    }
  });
});
