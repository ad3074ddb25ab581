import { chmodSync, existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, expectNoProcesses, outputsIn, replyWith, waitForExit } from "@agentcli/testkit";
import { itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { stdioServerProgram } from "@agentcli/testkit/mcp";
import Ajv from "ajv/dist/2020.js";
import { describe, expect, test } from "vitest";
import eventSchema from "../../packages/protocol/generated/exec-event.schema.json" with { type: "json" };
import lineSchema from "../../packages/protocol/generated/session-line.schema.json" with { type: "json" };

const ajv = new Ajv({ strict: false, validateFormats: false });
const isEvent = ajv.compile(eventSchema);
const isSessionLine = ajv.compile(lineSchema);

/** The stdio server as TOML; `options` are its arguments, `keys` those of the configuration. */
const fake = (name: string, { options = [], keys = "" }: { options?: string[]; keys?: string } = {}): string =>
  `[mcp_servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([stdioServerProgram, ...options])}\n${keys}\n`;

interface Offered {
  tools?: { name?: string }[];
}
const toolsOf = (request: { body: unknown } | undefined): string[] =>
  ((request?.body as Offered)?.tools ?? []).flatMap(({ name }) => name ?? []);

describe("a run with MCP servers", () => {
  test("reports each server, offers its tools and shows its calls as items", async () => {
    const { events, requests, records } = await openHarness({
      config: fake("fake"),
      replies: [call("mcp__fake__echo", { message: "hello" }), call("mcp__fake__fails", {}), replyWith("Done.")],
    });
    const { code, events: shown } = await events(["use the server"]);
    expect(code).toBe(0);
    for (const event of shown) expect(isEvent(event), JSON.stringify([event, isEvent.errors])).toBe(true);
    for (const line of records()) expect(isSessionLine(line), JSON.stringify(isSessionLine.errors)).toBe(true);
    expect(shown.slice(0, 3)).toMatchObject([
      { type: "thread.started" },
      { type: "turn.started" },
      {
        type: "item.completed",
        item: { id: "item_0", type: "mcp_server", name: "fake", status: "ready", reason: null },
      },
    ]);
    expect(shown[3]).toMatchObject({
      type: "item.started",
      item: {
        id: "item_1",
        type: "mcp_tool_call",
        server: "fake",
        tool: "echo",
        arguments: { message: "hello" },
        result: null,
        error: null,
        status: "in_progress",
      },
    });
    expect(itemsOf(shown, "mcp_tool_call")).toMatchObject([
      {
        id: "item_1",
        status: "completed",
        error: null,
        result: { content: [{ type: "text", text: "hello" }], structured_content: null },
      },
      { status: "failed", error: null, result: { content: [{ text: "there is no such row" }] } },
    ]);
    expect(toolsOf(requests()[0])).toEqual(
      expect.arrayContaining(["exec_command", "mcp__fake__echo", "read_mcp_resource"]),
    );
    expect(toolOutputs(requests().at(-1))[0]).toMatch(/^Wall time: .* seconds\nOutput:\nhello$/);
  });

  test("shows them as text too", async () => {
    const { run } = await openHarness({
      config: fake("fake") + fake("dead", { options: ["die=1"] }),
      replies: [call("mcp__fake__echo", { message: "x" }), call("mcp__fake__write", {}), replyWith("Done.")],
    });
    const { stderr } = await run(["exec", "use the server"]);
    expect(stderr).toContain("mcp: dead failed: its process ended with exit code 3: no database to connect to");
    expect(stderr).toMatch(/mcp: fake\/echo started\nmcp: fake\/echo \(completed in \d+ms\)/);
    expect(stderr).toContain(
      "mcp: fake/write (declined)\nMCP tool call requires approval, but approval policy is never",
    );
  });

  test("declines tools that need an approval, with the reason, unless they are approved by configuration", async () => {
    const replies = [call("mcp__fake__write", {}), replyWith("Done.")];
    const strict = await openHarness({ config: fake("fake"), replies });
    const { events } = await strict.events(["write"]);
    const reason =
      'MCP tool call requires approval, but approval policy is never. The user can allow it in config.toml: mcp_servers.fake.tools.write.approval_mode = "approve", or mcp_servers.fake.default_tools_approval_mode = "approve" for all tools of the server';
    expect(itemsOf(events, "mcp_tool_call")).toMatchObject([
      { server: "fake", tool: "write", status: "declined", reason, error: { message: reason }, result: null },
    ]);
    expect(toolOutputs(strict.requests()[1])).toEqual([reason]);
    const open = await openHarness({
      config: fake("fake", { keys: 'tools.write.approval_mode = "approve"' }),
      replies,
    });
    expect(itemsOf((await open.events(["write"])).events, "mcp_tool_call")).toMatchObject([{ status: "completed" }]);
  });

  test("passes images on to the model", async () => {
    const { events, requests } = await openHarness({
      config: fake("fake"),
      replies: [call("mcp__fake__image", {}), replyWith("Seen.")],
    });
    await events(["look"]);
    expect(JSON.stringify(requests()[1]?.body)).toContain("data:image/png;base64,iVBOR");
  });

  test("truncates a huge result for the model and in events", async () => {
    const { events, requests } = await openHarness({
      config: fake("fake"),
      replies: [call("mcp__fake__huge", {}), replyWith("Long.")],
    });
    const { events: shown, code } = await events(["-c", "tool_output_token_limit=200", "read it"]);
    expect(code).toBe(0);
    expect(toolOutputs(requests()[1])[0]?.length).toBeLessThan(1_500);
    expect(JSON.stringify(itemsOf(shown, "mcp_tool_call")[0]).length).toBeLessThan(8.1 * 1024 * 1024);
  });

  test("the model finds the rest of a huge result in a file of the sandbox", async () => {
    const { events, requests } = await openHarness({
      config: fake("fake"),
      replies: (body: string) => {
        const [first] = outputsIn(JSON.parse(body));
        const path = first?.match(/All of it is in (\S+): read it/)?.[1];
        if (first === undefined) return call("mcp__fake__huge", {});
        return outputsIn(JSON.parse(body)).length === 1
          ? call("exec_command", { cmd: `wc -c < ${path} && tail -c 4 ${path}` })
          : replyWith("Read.");
      },
    });
    expect((await events(["-c", "tool_output_token_limit=200", "read it"])).code).toBe(0);
    expect(toolOutputs(requests()[2])[1]).toMatch(/\n90000\d\d\nxend$/);
  });

  test("survives a server that crashes in the middle, and the next call finds it started again", async () => {
    const { events } = await openHarness({
      config: fake("fake"),
      replies: [call("mcp__fake__crash", {}), call("mcp__fake__echo", { message: "again" }), replyWith("Done.")],
    });
    const { code, events: shown } = await events(["go"]);
    expect(code).toBe(0);
    expect(itemsOf(shown, "mcp_tool_call")).toMatchObject([
      { status: "failed", error: { message: expect.stringContaining("exit code 7: out of luck") } },
      { status: "completed", result: { content: [{ text: "again" }] } },
    ]);
  });

  test("waits for a slow server until its timeout, then continues with a warning", async () => {
    const { events, requests } = await openHarness({
      config:
        fake("slow", { options: ["slow=300"] }) +
        fake("late", { options: ["slow=60000"], keys: "startup_timeout_sec = 0.2" }),
      replies: [replyWith("Done.")],
    });
    const { code, events: shown } = await events(["go"]);
    expect(code).toBe(0);
    expect(itemsOf(shown, "mcp_server")).toMatchObject([
      { name: "late", status: "late", reason: "it was not ready within 0.2 s; its tools join on the next turn" },
      { name: "slow", status: "ready" },
    ]);
    expect(toolsOf(requests()[0])).toContain("mcp__slow__echo");
    expect(toolsOf(requests()[0])).not.toContain("mcp__late__echo");
  });

  test.each([
    ["dies", ["die=1"], "", "its process ended with exit code 3: no database to connect to"],
    ["is slow", ["slow=60000"], "startup_timeout_sec = 0.2", "it was not ready within 0.2 s"],
  ])("does not start without a required server that %s", async (_how, options, keys, reason) => {
    const { events, requests } = await openHarness({
      config: fake("need", { options, keys: `required = true\n${keys}` }),
    });
    const { code, stderr, events: shown } = await events(["go"]);
    const message = `required MCP servers failed to initialize: need: ${reason}`;
    expect(code).toBe(9);
    expect(shown).toEqual([{ type: "error", message }]);
    expect(stderr).toContain(message);
    expect(requests()).toEqual([]);
  });

  test("is refused where the configuration of a server is invalid", async () => {
    const { run } = await openHarness({ config: "[mcp_servers.bad]\nurl = 'https://a.example'\nargs = ['x']\n" });
    const { code, stderr } = await run(["exec", "go"]);
    expect(code).toBe(2);
    expect(stderr).toContain("mcp_servers.bad: args is not supported for streamable_http.");
  });

  test("starts nothing that is disabled", async () => {
    const { events, requests } = await openHarness({
      config: fake("off", { keys: "enabled = false" }),
      replies: [replyWith("Done.")],
    });
    const { events: shown } = await events(["go"]);
    expect(itemsOf(shown, "mcp_server")).toEqual([]);
    expect(toolsOf(requests()[0])).not.toContain("read_mcp_resource");
  });

  test("leaves no process behind when it ends, is stopped or is killed", async () => {
    for (const signal of [null, "SIGTERM", "SIGKILL"] as const) {
      const { start, repository } = await openHarness({
        config: fake("fake"),
        replies: signal
          ? [call("mcp__fake__child", {}), call("mcp__fake__hang", {})]
          : [call("mcp__fake__child", {}), replyWith("Done.")],
      });
      const child = start(["exec", "--json", "go"]);
      const end = waitForExit(child);
      if (signal) {
        await new Promise<void>((resolve) => {
          let seen = "";
          child.stdout?.on("data", (piece) => {
            seen += piece;
            if (/item.started.*"tool":"hang"/.test(seen)) resolve();
          });
        });
        child.kill(signal);
      }
      await end;
      await expectNoProcesses(repository);
    }
  });

  test("runs a server inside a sandbox where configured", async () => {
    const { events } = await openHarness({
      config: fake("fake", { keys: 'sandbox = "read-only"' }),
      replies: [call("mcp__fake__env", {}), replyWith("Done.")],
    });
    const { events: shown } = await events(["go"]);
    const [{ result }] = itemsOf(shown, "mcp_tool_call") as [{ result: { content: { text: string }[] } }];
    expect(JSON.parse(result.content[0]?.text ?? "")).toMatchObject({ TMPDIR: "/tmp" });
  });
});

test("an HTTP server gets the headers that a helper program prints, and they are not logged", async () => {
  const { startHttpMcpServer: startHttpServer } = await import("@agentcli/testkit/mcp");
  const server = await startHttpServer();
  const helper = `printf '{"x-key":"%s"}' "$KEY_OF_TEST"`;
  const config = `[mcp_servers.web]\nurl = "${server.url}"\nhttp_headers_helper = ${JSON.stringify(helper)}\n`;
  const harness = await openHarness({ replies: [replyWith("Done.")], config });
  const { code, events } = await harness.events(["go"], { env: { KEY_OF_TEST: "abc123" } });
  expect({ code, servers: itemsOf(events, "mcp_server") }).toMatchObject({ code: 0, servers: [{ status: "ready" }] });
  expect(server.requests[0]?.headers["x-key"]).toBe("abc123");
  const broken = await harness.events(["-c", "mcp_servers.web.http_headers_helper=echo secret", "go"]);
  const [report] = itemsOf(broken.events, "mcp_server");
  expect(report).toMatchObject({ status: "failed", reason: expect.stringContaining("must print a JSON object") });
  expect(JSON.stringify(report)).not.toContain("secret");
});

test("a server that requirements do not list is not started, and list and run give the reason", async () => {
  const harness = await openHarness({ replies: [replyWith("Done.")], config: fake("files") });
  writeFileSync(join(harness.home, "requirements.toml"), `[mcp_servers.other.identity]\ncommand = "other"\n`);
  const { events } = await harness.events(["go"]);
  expect(itemsOf(events, "mcp_server")).toEqual([]);
  expect(itemsOf(events, "error").map(({ message }) => message)).toEqual([
    expect.stringMatching(/^The MCP server files is not used: not allowed by mcp_servers in .*requirements\.toml\.$/),
  ]);
  const [listed] = JSON.parse((await harness.run(["mcp", "list", "--json"])).stdout);
  expect(listed).toMatchObject({ enabled: false, disabled_reason: expect.stringContaining("requirements.toml") });
});

describe("a resumed thread", () => {
  test("offers the current tools of its servers, and a call of a removed one is unsupported", async () => {
    const { events, requests, home, run } = await openHarness({
      config: fake("first", { options: ["tools=echo"] }),
      replies: [replyWith("One."), call("mcp__first__echo", { message: "x" }), replyWith("Two.")],
    });
    await events(["begin"]);
    const config = readFileSync(join(home, "config.toml"), "utf8").replace("mcp_servers.first", "mcp_servers.second");
    writeFileSync(join(home, "config.toml"), config);
    const { stdout } = await run(["exec", "resume", "--json", "--last", "go on"]);
    expect(toolsOf(requests()[0])).toContain("mcp__first__echo");
    expect(toolsOf(requests()[1])).toContain("mcp__second__echo");
    expect(toolsOf(requests()[1])).not.toContain("mcp__first__echo");
    expect(stdout).toContain("unsupported call: mcp__first__echo");
  });

  test("with the same servers sends the same tools, byte for byte", async () => {
    const { events, requests, run } = await openHarness({
      config: fake("fake"),
      replies: [replyWith("One."), replyWith("Two.")],
    });
    await events(["begin"]);
    await run(["exec", "resume", "--last", "go on"]);
    const [first, second] = requests().map(({ body }) => JSON.stringify((body as Offered).tools));
    expect(second).toBe(first);
  });
});

describe("agentcli mcp", () => {
  test("adds, lists, shows and removes servers, and leaves the rest of the file alone", async () => {
    const { run, home } = await openHarness({ config: "# a comment that stays\n[mcp_servers.old]\ncommand = 'old'\n" });
    const before = readFileSync(join(home, "config.toml"), "utf8");
    chmodSync(join(home, "config.toml"), 0o640);
    expect(
      await run(["mcp", "add", "files", "--env", "A=b c", "--env", 'Q="', "--", "npx", "-y", "server"]),
    ).toMatchObject({
      code: 0,
      stdout: "Added global MCP server 'files'.\n",
    });
    expect(
      await run(["mcp", "add", "web", "--url", "https://mcp.example/mcp", "--bearer-token-env-var", "TOKEN"]),
    ).toMatchObject({
      code: 0,
    });
    const listed = await run(["mcp", "list", "--json"]);
    expect(JSON.parse(listed.stdout)).toEqual([
      {
        name: "files",
        enabled: true,
        disabled_reason: null,
        transport: {
          type: "stdio",
          command: "npx",
          args: ["-y", "server"],
          env: { A: "b c", Q: '"' },
          env_vars: [],
          cwd: null,
        },
        startup_timeout_sec: null,
        tool_timeout_sec: null,
        auth_status: "unsupported",
      },
      expect.objectContaining({ name: "old" }),
      {
        name: "web",
        enabled: true,
        disabled_reason: null,
        transport: {
          type: "streamable_http",
          url: "https://mcp.example/mcp",
          bearer_token_env_var: "TOKEN",
          http_headers: null,
          env_http_headers: null,
          http_headers_helper: null,
        },
        startup_timeout_sec: null,
        tool_timeout_sec: null,
        auth_status: "bearer_token",
      },
    ]);
    expect((await run(["mcp", "list"])).stdout).toMatch(
      /^Name +Command +Args.*\nfiles +npx +-y server +A=\*{5}, Q=\*{5}/,
    );
    expect(JSON.parse((await run(["mcp", "get", "files", "--json"])).stdout)).toMatchObject({
      enabled_tools: null,
      disabled_tools: null,
    });
    expect((await run(["mcp", "get", "web"])).stdout).toContain("  url: https://mcp.example/mcp\n");
    expect((await run(["mcp", "remove", "files"])).stdout).toBe("Removed global MCP server 'files'.\n");
    expect((await run(["mcp", "remove", "web"])).stdout).toBe("Removed global MCP server 'web'.\n");
    expect(readFileSync(join(home, "config.toml"), "utf8").trimEnd()).toBe(before.trimEnd());
    expect(statSync(join(home, "config.toml")).mode & 0o777).toBe(0o640);
  });

  test("says what is missing", async () => {
    const { run, home } = await openHarness();
    expect((await run(["mcp", "list"])).stdout).toContain("No MCP servers configured yet. Try ");
    expect(await run(["mcp", "get", "nope"])).toMatchObject({
      code: 1,
      stderr: expect.stringContaining("No MCP server named 'nope' found."),
    });
    expect(await run(["mcp", "remove", "nope"])).toMatchObject({
      code: 0,
      stdout: "No MCP server named 'nope' found.\n",
    });
    expect(await run(["mcp", "logout", "nope"])).toMatchObject({ code: 0, stdout: "There is no login to 'nope'.\n" });
    expect(await run(["mcp", "add", "bad name", "--", "x"])).toMatchObject({ code: 2 });
    expect(await run(["mcp", "add", "empty"])).toMatchObject({ code: 2 });
    expect(await run(["mcp", "add", "both", "--url", "https://a.example", "--", "x"])).toMatchObject({ code: 2 });
    expect(existsSync(join(home, ".credentials.json"))).toBe(false);
  });

  test("refuses edits that would change the meaning of other keys", async () => {
    const { run, home } = await openHarness({ config: "" });
    const path = join(home, "config.toml");
    const text = `mcp_servers = { a = { command = "x" } }\n${readFileSync(path, "utf8")}`;
    writeFileSync(path, text);
    expect(await run(["mcp", "remove", "a"])).toMatchObject({ code: 2, stderr: expect.stringContaining("by hand") });
    expect(readFileSync(path, "utf8")).toBe(text);
  });

  test("mcp-server names what replaced it", async () => {
    const { run } = await openHarness();
    const { code, stderr } = await run(["mcp-server"]);
    expect([code, stderr]).toEqual([
      2,
      expect.stringContaining("was removed. Programs drive the agent with: agentcli app-server"),
    ]);
  });
});
