// On a terminal, sequences in texts of models, commands, files and other users are shown instead of obeyed.
import { readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { call, cliProgram, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { spawn } from "@lydell/node-pty";
import { expect, onTestFinished, test } from "vitest";

const hostile = "\u001b]52;c;ZXZpbA==\u0007\u001b]0;title\u0007\u001b[2J\u009b3J\u001b[?25l\u001b[3A\u001b[K";
const shown = "\\u001b]52;c;ZXZpbA==\\u0007\\u001b]0;title\\u0007\\u001b[2J\\u009b3J\\u001b[?25l\\u001b[3A\\u001b[K";

function openTerminal(args: string[], cwd: string, env: Record<string, string>, cols = 500) {
  const variables = { PATH: process.env.PATH ?? "", HOME: cwd, TERM: "xterm", LANG: "C.UTF-8", ...env };
  const terminal = spawn(process.execPath, [cliProgram, ...args], { cwd, env: variables, cols });
  let screen = "";
  terminal.onData((text) => {
    screen += text;
  });
  const ended = new Promise<string>((resolve) => terminal.onExit(() => resolve(screen)));
  return { terminal, ended, screen: () => screen };
}

const onTerminal = (args: string[], cwd: string, env: Record<string, string>): Promise<string> =>
  openTerminal(args, cwd, env).ended;

/** Bold, dim and colours. */
const colours = /\u001b\[(?:0|1|2|22|31|32|33|39)m/g;
/** Also what draws the live region: one write at a time without a cursor, up, down, right, erase. */
const ownSequences = /\u001b\[(?:(?:0|1|2|22|31|32|33|39)m|\?2026[hl]|\?25[hl]|\d+[ABC]|[JK])/g;

function expectHarmless(screen: string, own = colours): void {
  expect(screen).toContain(shown);
  expect(screen.replace(own, "")).not.toMatch(/(?![\r\n\t])\p{Cc}/u);
}

test("a run, its session and its name obey nothing that they quote", async () => {
  const command = call("exec_command", {
    cmd: String.raw`printf '\033]52;c;ZXZpbA==\007\033]0;title\007\033[2J\302\2333J\033[?25l\033[3A\033[K'`,
  });
  const { repository, home, run } = await openHarness({ replies: [command, replyWith(`Done ${hostile}`)] });
  const env = { AGENT_HOME: home };
  const screen = await onTerminal(["exec", `go on ${hostile}`], repository, env);
  expectHarmless(screen, ownSequences);
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

test.each(["/dev/tty", "/dev/stdout", "/dev/fd/2", "/proc/self/fd/1"])(
  "what a run, an export and a report write to the terminal as a file, %s, is filtered too",
  async (file) => {
    const forged = "\u001b[1muser\u001b[22m says yes";
    const { repository, home, run } = await openHarness({ replies: [replyWith(`Done ${hostile}${forged}`)] });
    const env = { AGENT_HOME: home };
    const screen = await onTerminal(["exec", "-o", file, "go on"], repository, env);
    expectHarmless(screen, ownSequences);
    // On standard output, and as the file.
    expect(screen.split(`Done ${shown}`).length - 1).toBeGreaterThanOrEqual(2);
    expect(screen).not.toContain(forged);
    const [{ id }] = JSON.parse(`[${(await run(["sessions", "list", "--json"])).stdout.trim()}]`);
    const exported = await onTerminal(["sessions", "export", id, "--format", "markdown", "-o", file], repository, env);
    expectHarmless(exported, colours);
    expect(exported).not.toContain(forged);
    const index = { id, thread_name: forged, updated_at: new Date().toISOString() };
    writeFileSync(join(home, "session_index.jsonl"), `${JSON.stringify(index)}\n`);
    for (const args of [
      ["sessions", "list"],
      ["sessions", "show", id],
      ["sessions", "export", id, "--format", "markdown"],
    ])
      expect(await onTerminal(args, repository, env)).not.toContain(forged);
  },
);

test("a model and a command cannot print what looks like a heading of the program", async () => {
  const forged = "\u001b[1muser\u001b[22m\nyes, delete it\n\u001b[31mERROR:\u001b[\u001b[1m1mFORGED";
  const command = call("exec_command", { cmd: String.raw`printf '\033[32mapproved\033[39m\033[2m'` });
  const done = replyWith(`Done.\n${forged}`);
  const { repository, home, run } = await openHarness({ replies: [command, done, command, done, command, done] });
  const env = { AGENT_HOME: home };
  await run(["exec", forged]);
  const { id } = JSON.parse((await run(["sessions", "list", "--json"])).stdout);
  for (const screen of [
    await onTerminal(["exec", "resume", id, forged], repository, env),
    await onTerminal(["sessions", "show", id], repository, env),
    await onTerminal(["exec", "resume", id, forged], repository, { ...env, TERM: "dumb" }),
  ]) {
    const text = screen.replaceAll("\u001b[K", "").replace(/\r+\n/g, "\r\n");
    expect(text).toContain("user\r\nyes, delete it\r\nERROR:");
    expect(text).not.toContain("\u001b[32mapproved");
    expect(text).not.toContain("\u001b[1muser\u001b[22m\r\nyes");
    expect(text).not.toContain("\u001b[1mFORGED");
  }
});

test("errors and commands in the sandbox have no colours of what they quote", async () => {
  const { repository, home } = await openHarness();
  const env = { AGENT_HOME: home };
  const printed = String.raw`printf '\033[31mERROR:\033[39m forged\n'`;
  expect(await onTerminal(["sandbox", "run", "--", "sh", "-c", printed], repository, env)).toBe("ERROR: forged\r\n");
  const unknown = await onTerminal(["sessions", "show", "\u001b[32mapproved\u001b[39m"], repository, env);
  expect(unknown).toContain("There is no session approved");
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

const waitFor = (file: string) => `until [ -e ${file} ]; do sleep 0.05; done`;
const steps = [
  { step: "Look", status: "completed" },
  { step: "Change a.txt", status: "in_progress" },
  { step: "Test", status: "pending" },
];
const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+zwei\n*** End Patch";

/** A run with a hook and a command, each of which waits for a file. */
const openWork = async () => {
  const harness = await openHarness({
    replies: [
      call("read_file", { path: "a.txt", offset: 2, limit: 1 }),
      call("grep_files", { pattern: "tw." }),
      call("update_plan", { plan: steps }),
      call("apply_patch", { input: patch }),
      call("exec_command", { cmd: `echo first; echo second; ${waitFor("go")}`, yield_time_ms: 30_000 }),
      replyWith("Done."),
    ],
    files: { "a.txt": "one\ntwo\n" },
  });
  const hook = { type: "command", command: waitFor("checked"), statusMessage: "Checking the policy" };
  const hooks = { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] };
  writeFileSync(join(harness.home, "hooks.json"), JSON.stringify({ hooks }));
  return harness;
};
const workArguments = ["exec", "-s", "workspace-write", "--dangerously-bypass-hook-trust", "go on"];

test("a run shows what it reads, changes, plans and runs while it does so, and how to go on", async () => {
  const { repository, home } = await openWork();
  const env = { AGENT_HOME: home, TMPDIR: "/tmp" };
  const { terminal, ended, screen } = openTerminal(workArguments, repository, env, 60);
  const shownText = () => screen().replace(ownSequences, "");
  await expect.poll(shownText).toMatch(/● \d+s · [\d,]+ tokens · Checking the policy/);
  writeFileSync(join(repository, "checked"), "");
  await expect.poll(shownText).toMatch(/ {2}│ first\r+\n {2}│ second\r+\n● \d+s · [\d,]+ tokens · running echo/);
  const before = screen().length;
  terminal.resize(40, 24);
  await expect.poll(() => screen().slice(before)).toContain("tokens · running");
  writeFileSync(join(repository, "go"), "");
  const all = await ended;
  const plain = all.replace(ownSequences, "").replace(/\r+/g, "\r");
  expect(all).toContain("\u001b[2mread a.txt lines 2-2\u001b[22m");
  expect(all).toContain("\u001b[2msearch tw.\u001b[22m");
  expect(plain).toContain("  ✓ Look\r\n  → Change a.txt\r\n  • Test\r\n");
  expect(plain).toContain("update a.txt +1 -1\r\n  @@\r\n   one\r\n  -two\r\n  +zwei\r\n");
  expect(plain).toMatch(/To go on: agentcli exec resume [0-9a-f-]{36} "…"\s*$/);
  const frames = all.split("\u001b[?2026h").slice(1);
  for (const frame of frames) expect(frame.match(/\u001b\[\?2026l/g)).toHaveLength(1);
  const statusLines = frames.flatMap((frame) => frame.replace(ownSequences, "").match(/● \d+s · .*tokens · .*/g) ?? []);
  expect(statusLines).not.toEqual([]);
  for (const line of statusLines) expect(line.length).toBeLessThan(60);
  expect(all.replace(ownSequences, "")).not.toContain("\u001b");
});

test.each([
  ["a dumb terminal", { TERM: "dumb" }],
  ["a terminal of a CI job", { CI: "true" }],
])("on %s nothing is drawn twice", async (_where, variables) => {
  const { repository, home } = await openHarness({ replies: [call("list_dir", { path: "." }), replyWith("Done.")] });
  const screen = await onTerminal(["exec", "go on"], repository, { AGENT_HOME: home, ...variables });
  expect(screen).toContain("Done.");
  expect(screen).not.toMatch(/\u001b\[(\?|J|\d+A)|tokens · |list \./);
});

test("with NO_COLOR the live line has no colour", async () => {
  const { repository, home } = await openHarness({ replies: [call("list_dir", { path: "." }), replyWith("Done.")] });
  const screen = await onTerminal(["exec", "go on"], repository, { AGENT_HOME: home, NO_COLOR: "1" });
  expect(screen).toContain("tokens · ");
  expect(screen).not.toMatch(/\u001b\[\d+m/);
});

test("--color always wins over NO_COLOR, on the live line too", async () => {
  const { repository, home } = await openHarness({ replies: [call("list_dir", { path: "." }), replyWith("Done.")] });
  const variables = { AGENT_HOME: home, NO_COLOR: "1" };
  const screen = await onTerminal(["exec", "--color", "always", "go on"], repository, variables);
  expect(screen).toMatch(/\u001b\[[\d;]+m[^\r\n]*tokens · /);
});

test("in a pipe there is nothing of it", async () => {
  const { run, repository } = await openWork();
  for (const file of ["checked", "go"]) writeFileSync(join(repository, file), "");
  const { stderr, code } = await run(workArguments);
  expect(code).toBe(0);
  expect(stderr).toContain("apply patch\npatch: completed\nupdate a.txt\n");
  expect(stderr).toContain("plan\n  ✓ Look\n  • Change a.txt\n  • Test\n");
  expect(stderr).not.toMatch(/\u001b|tokens · |read a\.txt|search tw|To go on|Checking/);
});
