// The terminal interface in tmux at several widths, and with more than a screen can hold.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, type Reply, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";
import { openMemoryTerminal, openTmux } from "../support/terminal.ts";

const when = (reply: Reply, bodyIncludes: string): Reply => ({ ...reply, when: { bodyIncludes } });

const lines = Array.from({ length: 60 }, (_, index) => `${index + 1}. 日本語 é ${"ab ".repeat(5)}end of ${index + 1}`);

test.each([60, 80, 120, 250])(
  "sub-agents, a queued message, a resize while the answer streams, a fork and both lists of threads, at %i columns",
  async (columns) => {
    const waits = { cmd: "until [ -e go ]; do sleep 0.05; done; echo went", yield_time_ms: 60_000 };
    const replies = [
      when(replyWith("The queued one is done."), "and then this"),
      when(replyWith(lines.join("\n"), { deltas: 60, deltaDelayMs: 5 }), "The child is done."),
      when(replyWith("The child is done."), "went\\n"),
      when(call("exec_command", waits), "You do one piece of a larger task"),
      when(call("wait_agent", { targets: ["worker"] }), "agent_id"),
      call("spawn_agent", { message: "look at it", agent_type: "worker" }),
    ];
    const { repository, home } = await openHarness({ replies: { replies, repeat: "always" } });
    const terminal = openTmux({ cwd: repository, env: { AGENT_HOME: home }, args: ["use an agent"], columns });
    await expect.poll(terminal.screen).toMatch(/◆ Agents\n\s+└ worker look at it · running until/);
    terminal.type("and then this");
    terminal.keys("Tab");
    await expect.poll(terminal.screen).toContain("and then this (queued, Alt-Up edits)");
    writeFileSync(join(repository, "go"), "");
    await expect.poll(terminal.history).toContain("end of 9");
    terminal.resize(columns - 7, 25);
    await expect.poll(terminal.history).toContain("The queued one is done.");
    await expect.poll(terminal.screen).toContain("Ask for a change");
    const shown = terminal.history().replace(/\n\s+/g, " ");
    for (const number of [1, 30, 60]) expect(shown).toContain(`${number}. 日本語 é ab ab ab ab ab end of ${number}`);
    expect(shown).toMatch(/started an agent: look at it/);
    terminal.type("/resume");
    terminal.keys("Enter");
    await expect.poll(terminal.screen).toMatch(/Resume[\s\S]*❯ use an agent/);
    terminal.keys("Escape");
    await expect.poll(terminal.screen).toContain("Ask for a change");
    terminal.type("/fork");
    terminal.keys("Enter");
    await expect.poll(terminal.screen).toContain("↪ Forked from");
    terminal.keys("C-d");
    await expect.poll(terminal.history).toMatch(/To continue: agentcli resume [\w-]+\s+exit code 0\s+icanon/);
    const again = openTmux({ cwd: repository, env: { AGENT_HOME: home }, args: ["resume"], columns });
    await expect.poll(again.screen).toMatch(/Resume type to narrow[\s\S]*❯ use an agent/);
    for (const line of again.screen().split("\n")) expect(line.length).toBeLessThan(columns);
    again.type("use");
    await expect.poll(again.screen).toMatch(/Resume use[\s\S]*❯ use an agent/);
    again.keys("Enter");
    const recalled = () => again.history().replace(/\n\s+/g, " ");
    await expect.poll(recalled).toContain("60. 日本語 é ab ab ab ab ab end of 60");
  },
);

test("a rule is chosen from patterns, with the earlier commands that each matches and the file it goes to", async () => {
  const outside = { sandbox_permissions: "require_escalated", justification: "It needs more." };
  const { repository, home } = await openHarness({
    replies: [
      call("exec_command", { cmd: "git log --oneline" }),
      call("exec_command", { cmd: "git log -1", ...outside }),
      replyWith("Logged."),
    ],
  });
  const terminal = openTmux({
    cwd: repository,
    env: { AGENT_HOME: home },
    args: ["please show the history of commits"],
    columns: 60,
  });
  await expect.poll(terminal.screen).toContain("Yes, and a rule");
  await expect.poll(terminal.screen).toContain("waiting for your answer");
  expect(terminal.screen()).not.toContain("Esc interrupts");
  expect(terminal.screen().replace(/\n┃ +/g, " ")).toContain("that begin with git log -1, or another beginning");
  terminal.keys("r");
  await expect.poll(terminal.screen).toContain("Always allow, in");
  expect(terminal.screen()).toMatch(/git log -1 … {2}matches no earlier command/);
  expect(terminal.screen()).toMatch(/git log … {5}matches 1 earlier: git log --oneline/);
  terminal.keys("Escape");
  await expect.poll(terminal.screen).toContain("Yes, and a rule");
  terminal.keys("r");
  await expect.poll(terminal.screen).toContain("Always allow, in");
  terminal.keys("Down", "Enter");
  await expect.poll(terminal.screen).toContain("Logged.");
  expect(terminal.history().replaceAll("\n", "")).toContain('prefix_rule(pattern=["git","log"], decision="allow")');
  expect(readFileSync(join(home, "rules/default.rules"), "utf8")).toContain('prefix_rule(pattern=["git","log"]');
});

test("an output of 20,000 lines and an answer of 2 MB leave the scrollback whole, and are written once", async () => {
  const answer = Array.from({ length: 40_000 }, (_, index) => `${index} of a long answer, ${"x".repeat(25)}`).join(
    "\n",
  );
  const { repository, home } = await openHarness({
    replies: [call("exec_command", { cmd: "seq 1 20000" }), replyWith(answer, { deltas: 4000 }), replyWith("Short.")],
  });
  const terminal = openMemoryTerminal({ cwd: repository, env: { AGENT_HOME: home }, args: ["write a lot"] });
  await expect.poll(terminal.screen).toContain("39999 of a long answer");
  await expect.poll(terminal.screen).toContain("Ask for a change");
  const written = terminal.written();
  terminal.type("is it still there?\r");
  await expect.poll(terminal.screen).toContain("Short.");
  const shown = terminal.lines().map((line) => line.trim().replace(/^• /, ""));
  expect(shown.filter((line) => / of a long answer, x+$/.test(line))).toEqual(answer.split("\n"));
  expect(shown.join("\n")).toMatch(/✓ seq 1 20000.*\n.*lines above/);
  expect(Buffer.byteLength(written)).toBeLessThan(2 * answer.length);
  expect(written).not.toMatch(/\u001b\[[23]J|\u001bc|\u001b\[\?(?:1049|47)h/);
});

test.each(["SIGKILL", "SIGQUIT", "SIGHUP", "SIGTERM"] as const)(
  "a program that is ended with %s leaves a terminal that echoes what is typed",
  async (signal) => {
    const { repository, home } = await openHarness();
    const terminal = openTmux({ cwd: repository, env: { AGENT_HOME: home } });
    await expect.poll(terminal.screen).toContain("Ask for a change");
    terminal.type("a message");
    await expect.poll(terminal.screen).toContain("› a message");
    process.kill(terminal.processId(), signal);
    await expect.poll(terminal.screen).toContain("exit code");
    await expect
      .poll(() => {
        terminal.type("echo");
        return terminal.screen();
      })
      .toContain("echo");
  },
);
