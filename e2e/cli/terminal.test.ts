// On a terminal, sequences in texts of models, commands, files and other users are shown instead of obeyed.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { call, cliProgram, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { spawn } from "@lydell/node-pty";
import { expect, onTestFinished, test } from "vitest";

const hostile = "\u001b]52;c;ZXZpbA==\u0007\u001b]0;title\u0007\u001b[2J\u009b3J";
const shown = "\\u001b]52;c;ZXZpbA==\\u0007\\u001b]0;title\\u0007\\u001b[2J\\u009b3J";

function onTerminal(args: string[], cwd: string, env: Record<string, string>): Promise<string> {
  const variables = { PATH: process.env.PATH ?? "", HOME: cwd, TERM: "xterm", LANG: "C.UTF-8", ...env };
  const terminal = spawn(process.execPath, [cliProgram, ...args], { cwd, env: variables, cols: 500 });
  let screen = "";
  terminal.onData((text) => {
    screen += text;
  });
  return new Promise((resolve) => terminal.onExit(() => resolve(screen)));
}

function expectHarmless(screen: string): void {
  expect(screen).toContain(shown);
  const own = /\u001b\[(?:1|2|22|31|32|39)m/g;
  expect(screen.replace(own, "")).not.toMatch(/(?![\r\n\t])\p{Cc}/u);
}

test("a run, its session and its name obey nothing that they quote", async () => {
  const command = call("exec_command", {
    cmd: String.raw`printf '\033]52;c;ZXZpbA==\007\033]0;title\007\033[2J\302\2333J'`,
  });
  const { repository, home, run } = await openHarness({ replies: [command, replyWith(`Done ${hostile}`)] });
  const env = { AGENT_HOME: home };
  const screen = await onTerminal(["exec", `go on ${hostile}`], repository, env);
  expectHarmless(screen);
  expect(screen.split(shown).length - 1).toBeGreaterThanOrEqual(3);
  const [{ id }] = JSON.parse(`[${(await run(["sessions", "list", "--json"])).stdout.trim().split("\n").join(",")}]`);
  expectHarmless(await onTerminal(["sessions", "show", id], repository, env));
  expectHarmless(await onTerminal(["sessions", "export", id, "--format", "markdown"], repository, env));
  const index = { id, thread_name: hostile, updated_at: new Date().toISOString() };
  writeFileSync(join(home, "session_index.jsonl"), `${JSON.stringify(index)}\n`);
  expectHarmless(await onTerminal(["sessions", "list"], repository, env));
  expect(await run(["sessions", "name", id, hostile])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining("Invalid name"),
  });
});

test("the final message in a pipe has every byte of it", async () => {
  const { run, repository } = await openHarness({ replies: [replyWith(`Done ${hostile}`)] });
  const file = join(repository, "last.txt");
  const { stdout } = await run(["exec", "-o", file, "go on"]);
  expect([stdout, readFileSync(file, "utf8").trimEnd()]).toEqual([`Done ${hostile}\n`, `Done ${hostile}`]);
});

test("lists and the status of cloud agents obey nothing that other users wrote", async () => {
  const agentId = "bc-00000000-0000-4000-8000-000000000000";
  const at = "2026-01-01T00:00:00.000Z";
  const agent = { id: agentId, name: hostile, status: "IDLE", url: "http://x", createdAt: at, updatedAt: at };
  const server = createServer((request, response) => {
    const isOne = request.url?.startsWith(`/v1/agents/${agentId}`) && !request.url.endsWith("/diff");
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify(isOne ? agent : { items: request.url?.endsWith("/diff") ? [] : [agent] }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const { home } = await openHarness();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const env = { AGENT_HOME: home, PLATFORM_BACKEND_URL: url, PLATFORM_API_KEY: "key" };
  expectHarmless(await onTerminal(["cloud", "list"], home, env));
  expectHarmless(await onTerminal(["cloud", "status", agentId], home, env));
});
