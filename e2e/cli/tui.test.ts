// The terminal interface as users see it: in tmux at several widths, and on a terminal in memory with its whole scrollback.
import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";
import { openMemoryTerminal, openTmux } from "../support/terminal.ts";

const steps = [
  { step: "Look", status: "completed" },
  { step: "Change a.txt", status: "in_progress" },
  { step: "Test", status: "pending" },
];
const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+zwei\n*** End Patch";
const answer = `# Result

Changed **a.txt**; see \`zwei\`.

| file | lines |
| --- | --- |
| a.txt | 2 |

\`\`\`ts
const answer = 42; // done
\`\`\`

- 日本語 and é
- last entry`;

test.each([60, 80, 120, 250])(
  "a turn with a plan, an edit, an approval and a table, at %i columns",
  async (columns) => {
    const elsewhere = await temporaryDirectory();
    onTestFinished(elsewhere.remove);
    const outside = join(elsewhere.path, "outside");
    const { repository, home } = await openHarness({
      replies: [
        call("update_plan", { plan: steps }),
        call("apply_patch", { input: patch }),
        call("exec_command", {
          cmd: `touch ${outside} && echo outside`,
          sandbox_permissions: "require_escalated",
          justification: "The file is outside of the project.",
        }),
        replyWith(answer),
      ],
      files: { "a.txt": "one\ntwo\n" },
    });
    const terminal = openTmux({ cwd: repository, env: { AGENT_HOME: home }, columns });
    await expect.poll(terminal.screen).toContain("Ask for a change");
    terminal.type("change it");
    terminal.keys("Enter");
    await expect.poll(terminal.screen).toContain("Run this command outside the sandbox?");
    const asked = terminal.screen();
    expect(asked.replaceAll(/\s/g, "")).toContain(`touch${outside}&&echooutside`);
    expect(asked).toContain("Why: The file is outside of the project.");
    expect(asked).toContain("y Yes, once");
    terminal.keys("y");
    await expect.poll(terminal.history).toContain("last entry");
    await expect.poll(terminal.screen).toContain("Ask for a change");
    const shown = terminal.history();
    expect(shown).toContain("› change it");
    expect(shown).toMatch(/✎ edited a\.txt {2}\+1 -1/);
    expect(shown).toMatch(/-two\n\s+\+zwei/);
    expect(shown).toMatch(/✓ touch \//);
    expect(shown).toMatch(/file {2}│ lines\n\s+─+┼─+\n\s+a\.txt │ 2/);
    expect(shown).toContain("• 日本語 and é");
    expect(shown).toMatch(/✓ Look\n\s+→ Change a\.txt\n\s+• Test/);
    expect(existsSync(outside)).toBe(true);
    expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("one\nzwei\n");
    terminal.keys("C-c");
    await expect.poll(terminal.screen).toContain("Press Ctrl-C again to quit.");
    terminal.keys("C-c");
    await expect.poll(terminal.history).toMatch(/To continue: agentcli resume [\w-]+\s+exit code 0\s+icanon/);
  },
);

test("a question of the model is a card, and its answer reaches the model", async () => {
  const options = [
    { label: "Red", description: "like fire" },
    { label: "Blue", description: "like the sea" },
  ];
  const question = { id: "colour", header: "Colour", question: "Which colour?", options };
  const { repository, home, requests } = await openHarness({
    replies: [call("request_user_input", { questions: [question] }), replyWith("Thanks.")],
  });
  const terminal = openTmux({ cwd: repository, env: { AGENT_HOME: home }, args: ["ask me something"] });
  await expect.poll(terminal.screen).toMatch(/Which colour\?[\s\S]*1 Red {2}like fire[\s\S]*2 Blue/);
  terminal.keys("2");
  await expect.poll(terminal.screen).toContain("Thanks.");
  expect(JSON.stringify(requests()[1]?.body)).toContain("Blue");
});

test("a patch is decided hunk by hunk, and the model reads what was refused and why", async () => {
  const input = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+ONE\n@@\n-two\n+TWO\n*** End Patch";
  const { repository, home, requests } = await openHarness({
    replies: [call("apply_patch", { input }), replyWith("Understood.")],
    files: { "a.txt": "one\ntwo\n" },
  });
  const args = ["--sandbox", "read-only", "--ask-for-approval", "on-request", "change it"];
  const terminal = openTmux({ cwd: repository, env: { AGENT_HOME: home }, args });
  await expect.poll(terminal.screen).toContain("h Decide hunk by hunk");
  terminal.keys("h");
  await expect.poll(terminal.screen).toMatch(/Hunk 1 of 2: a\.txt[\s\S]*-one[\s\S]*\+ONE[\s\S]*y Apply this hunk/);
  terminal.keys("y");
  await expect.poll(terminal.screen).toMatch(/Hunk 2 of 2: a\.txt[\s\S]*-two/);
  terminal.keys("n");
  await expect.poll(terminal.screen).toContain("Why not?");
  terminal.type("two is right");
  terminal.keys("Enter");
  await expect.poll(terminal.screen).toContain("Understood.");
  expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("ONE\ntwo\n");
  const sent = JSON.stringify(requests()[1]?.body);
  expect(sent).toContain("refused and not applied");
  expect(sent).toContain("Reason of the user: two is right");
});

const clearsScrollback = /\u001b\[3J|\u001b\[2J|\u001bc|\u001b\[\?1049h|\u001b\[\?47h/;

test("a long answer is whole in the scrollback, also when the terminal is resized meanwhile", async () => {
  const lines = Array.from({ length: 400 }, (_, index) => `line ${index + 1} of the answer`);
  const { repository, home } = await openHarness({
    replies: [replyWith(lines.join("\n"), { deltas: 200, deltaDelayMs: 5 }), replyWith("Short.")],
  });
  const terminal = openMemoryTerminal({ args: ["count to 400"], cwd: repository, env: { AGENT_HOME: home } });
  // Not of the screen alone: they pass by in less than a look.
  const all = () => terminal.lines().join("\n");
  await expect.poll(all).toContain("line 40 of");
  terminal.resize(100, 20);
  await expect.poll(all).toContain("line 150 of");
  terminal.resize(60, 40);
  await expect.poll(terminal.screen).toContain("line 400 of");
  await expect.poll(terminal.screen).toContain("Ask for a change");
  terminal.type("again\r");
  await expect.poll(terminal.screen).toContain("Short.");
  const shown = terminal.lines().map((line) => line.trim().replace(/^• /, ""));
  const answered = shown.filter((line) => /^line \d+ of the answer$/.test(line));
  // What is on its way to a terminal that is being resized was laid out for the old width: one row may stay behind.
  expect(answered.length).toBeLessThanOrEqual(lines.length + 2);
  expect(answered.filter((line, index) => line !== answered[index - 1])).toEqual(lines);
  expect(terminal.written()).not.toMatch(clearsScrollback);
  terminal.kill("SIGTERM");
  expect(await terminal.ended).not.toBe(0);
  expect(terminal.written()).toMatch(/\u001b\[\?2004l\u001b\[\?25h\u001b\[0m/);
});

test("Escape interrupts, and messages written meanwhile steer the turn or wait for its end", async () => {
  const waits = call("exec_command", { cmd: "until [ -e go ]; do sleep 0.05; done; echo went", yield_time_ms: 60_000 });
  const { repository, home, requests } = await openHarness({
    replies: [waits, replyWith("First done."), replyWith("Second done."), waits, replyWith("Never shown.")],
  });
  const terminal = openTmux({ cwd: repository, env: { AGENT_HOME: home }, args: ["wait for it"] });
  await expect.poll(terminal.screen).toContain("running until");
  terminal.type("look at this too");
  terminal.keys("Enter");
  await expect.poll(terminal.screen).toContain("look at this too (steers at the next step)");
  terminal.type("and then this");
  terminal.keys("Tab");
  await expect.poll(terminal.screen).toContain("and then this (queued, Alt-Up edits)");
  writeFileSync(join(repository, "go"), "");
  await expect.poll(terminal.history).toContain("Second done.");
  expect(terminal.history()).toMatch(/› look at this too[\s\S]*First done\.[\s\S]*› and then this[\s\S]*Second done\./);
  expect(JSON.stringify(requests()[1]?.body)).toContain("look at this too");
  rmSync(join(repository, "go"));
  terminal.type("wait again");
  terminal.keys("Enter");
  await expect.poll(terminal.screen).toContain("running until");
  terminal.keys("Escape");
  await expect.poll(terminal.screen).toContain("■ Interrupted.");
  expect(terminal.history()).not.toContain("Never shown.");
});
