import { spawn } from "node:child_process";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, replyWith, waitForExit } from "@agentcli/testkit";
import { itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { startGuardedServer } from "@agentcli/testkit/mcp";
import { describe, expect, onTestFinished, test } from "vitest";

const installed = (name: string) =>
  fileURLToPath(new URL(`../../node_modules/@modelcontextprotocol/server-${name}/dist/index.js`, import.meta.url));

const local = (name: string, server: string, args: string[] = [], keys = ""): string =>
  `[mcp_servers.${name}]\ncommand = ${JSON.stringify(process.execPath)}\nargs = ${JSON.stringify([installed(server), ...args])}\ndefault_tools_approval_mode = "approve"\n${keys}\n`;

describe("third-party servers", () => {
  test("everything: text, images, structure, progress, resources and prompts over a process", async () => {
    const { events, requests } = await openHarness({
      config: local("everything", "everything", ["stdio"]),
      replies: [
        call("mcp__everything__echo", { message: "hello there" }),
        call("mcp__everything__get_sum", { a: 5, b: 3 }),
        call("mcp__everything__get_tiny_image", {}),
        call("mcp__everything__get_structured_content", { location: "Chicago" }),
        call("mcp__everything__trigger_long_running_operation", { duration: 0.3, steps: 3 }),
        call("mcp__everything__trigger_elicitation_request", {}),
        call("list_mcp_resources", { server: "everything" }),
        call("list_mcp_prompts", {}),
        replyWith("Done."),
      ],
    });
    const { code, events: shown } = await events(["try everything"]);
    expect(code).toBe(0);
    expect(itemsOf(shown, "mcp_server")).toMatchObject([{ name: "everything", status: "ready" }]);
    expect(itemsOf(shown, "mcp_tool_call").map(({ tool, status }) => `${tool} ${status}`)).toEqual([
      "echo completed",
      "get-sum completed",
      "get-tiny-image completed",
      "get-structured-content completed",
      "trigger-long-running-operation completed",
      "trigger-elicitation-request completed",
    ]);
    const outputs = toolOutputs(requests().at(-1));
    expect(outputs[0]).toContain("hello there");
    expect(outputs[1]).toContain("8");
    expect(JSON.stringify(requests()[3]?.body)).toContain("data:image/png;base64,");
    expect(JSON.parse(outputs[3]?.split("Output:\n")[1] ?? "")).toHaveProperty("temperature");
    expect(outputs[5]).toMatch(/declined/i);
    expect(JSON.parse(outputs[6] ?? "").resources.length).toBeGreaterThan(0);
    expect(JSON.parse(outputs[7] ?? "").prompts.length).toBeGreaterThan(0);
  });

  test("everything over HTTP", async () => {
    const url = await startEverything();
    const { events } = await openHarness({
      config: `[mcp_servers.web]\nurl = "${url}"\ndefault_tools_approval_mode = "approve"\n`,
      replies: [
        call("mcp__web__echo", { message: "over the wire" }),
        call("mcp__web__trigger_long_running_operation", { duration: 0.2, steps: 2 }),
        replyWith("Done."),
      ],
    });
    const { code, events: shown } = await events(["try everything"]);
    expect(code).toBe(0);
    expect(itemsOf(shown, "mcp_tool_call")).toMatchObject([
      { server: "web", status: "completed", result: { content: [{ text: expect.stringContaining("over the wire") }] } },
      { server: "web", status: "completed" },
    ]);
  });

  test("filesystem: reads and writes in the repository it is given as a root", async () => {
    const { events, repository, requests } = await openHarness({
      files: { "notes.txt": "one\ntwo\n" },
      config: local("files", "filesystem", ["."]),
      replies: [
        call("mcp__files__read_text_file", { path: "notes.txt" }),
        call("mcp__files__write_file", { path: "made.txt", content: "by a server\n" }),
        replyWith("Done."),
      ],
    });
    const { events: shown } = await events(["use the files"]);
    expect(itemsOf(shown, "mcp_tool_call")).toMatchObject([{ status: "completed" }, { status: "completed" }]);
    expect(toolOutputs(requests()[1])[0]).toContain("two");
    expect(readFileSync(join(repository, "made.txt"), "utf8")).toBe("by a server\n");
  });

  test("filesystem: inside a read-only sandbox it cannot write", async () => {
    const { events, repository } = await openHarness({
      config: local("files", "filesystem", ["."], 'sandbox = "read-only"'),
      replies: [call("mcp__files__write_file", { path: "made.txt", content: "x" }), replyWith("Done.")],
    });
    const { events: shown } = await events(["-s", "workspace-write", "use the files"]);
    expect(itemsOf(shown, "mcp_tool_call")).toMatchObject([{ status: "failed" }]);
    expect(existsSync(join(repository, "made.txt"))).toBe(false);
  });

  test("memory: remembers from one run to the next", async () => {
    const { events, home, requests } = await openHarness({
      replies: [
        call("mcp__memory__create_entities", {
          entities: [{ name: "Ada", entityType: "person", observations: ["likes engines"] }],
        }),
        replyWith("Kept."),
        call("mcp__memory__read_graph", {}),
        replyWith("Read."),
      ],
    });
    const file = join(home, "memory.jsonl");
    const path = join(home, "config.toml");
    const block = local("memory", "memory", [], `env = { MEMORY_FILE_PATH = ${JSON.stringify(file)} }`);
    writeFileSync(path, readFileSync(path, "utf8") + block);
    await events(["remember"]);
    await events(["recall"]);
    expect(toolOutputs(requests()[3])[0]).toContain("likes engines");
  });
});

test("a login is saved for the owner only, used by the next run, and removed at logout", async () => {
  const { server, grants } = await startGuardedServer();
  const { run, start, events, home } = await openHarness({
    config: `[mcp_servers.web]\nurl = "${server.url}"\ndefault_tools_approval_mode = "approve"\n`,
    replies: [replyWith("Without."), call("mcp__web__echo", {}), replyWith("With.")],
  });
  const before = await events(["go"]);
  expect(itemsOf(before.events, "mcp_server")).toMatchObject([
    { status: "failed", reason: "it refused the request (HTTP 401); log in with: agentcli mcp login web" },
  ]);
  const login = start(["mcp", "login", "web"]);
  const end = waitForExit(login);
  login.stderr?.on("data", (piece) => void consentTo(/http:\/\/\S+authorize\S+/.exec(String(piece))?.[0]));
  expect(await end).toMatchObject({ code: 0, stdout: "Successfully logged in to MCP server 'web'.\n" });
  expect(statSync(join(home, ".credentials.json")).mode & 0o777).toBe(0o600);
  expect(JSON.parse((await run(["mcp", "list", "--json"])).stdout)).toMatchObject([{ auth_status: "o_auth" }]);
  grants.access.clear();
  const after = await events(["go"]);
  expect(itemsOf(after.events, "mcp_tool_call")).toMatchObject([{ status: "completed" }]);
  expect(readFileSync(join(home, ".credentials.json"), "utf8")).toContain("access-2");
  expect((await run(["mcp", "logout", "web"])).stdout).toBe("Removed the login to 'web'.\n");
  expect(JSON.parse((await run(["mcp", "list", "--json"])).stdout)).toMatchObject([{ auth_status: "not_logged_in" }]);
});

async function consentTo(address: string | undefined): Promise<void> {
  if (address !== undefined) await fetch(address);
}

async function startEverything(): Promise<string> {
  const port = await freePort();
  const server = spawn(process.execPath, [installed("everything"), "streamableHttp"], {
    env: { ...process.env, PORT: String(port) },
    stdio: ["ignore", "pipe", "pipe"],
  });
  onTestFinished(async () => {
    const gone = new Promise((resolve) => server.once("exit", resolve));
    server.kill("SIGKILL");
    await gone;
  });
  await new Promise<void>((resolve, reject) => {
    const listen = (piece: Buffer) => /listening/i.test(String(piece)) && resolve();
    server.stdout.on("data", listen);
    server.stderr.on("data", listen);
    server.once("exit", () => reject(new Error("the server ended before it listened")));
  });
  return `http://127.0.0.1:${port}/mcp`;
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, "127.0.0.1", resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === "object" && address ? address.port : 0;
}
