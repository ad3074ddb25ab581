// Stories of the terminal interface in tmux at the widths at which no other test tells them.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, test } from "vitest";
import { openTmux } from "../support/terminal.ts";

const input = "*** Begin Patch\n*** Update File: a.txt\n@@\n-one\n+日本語 one\n@@\n-two\n+TWO\n*** End Patch";
const waits = { cmd: "until [ -e go ]; do sleep 0.05; done", yield_time_ms: 60_000 };
const pasted = Array.from({ length: 5000 }, (_, index) => `pasted line ${index + 1}`);

test.each([60, 120, 250])(
  "hunks of a patch, a paste of 5,000 lines, an interrupt and an earlier message edited in a fork, at %i columns",
  async (columns) => {
    const { repository, home, requests } = await openHarness({
      replies: [
        call("apply_patch", { input }),
        replyWith("Understood."),
        replyWith("Read."),
        call("exec_command", waits),
        replyWith("Answer in the fork."),
      ],
      files: { "a.txt": "one\ntwo\n" },
    });
    const args = ["--sandbox", "read-only", "--ask-for-approval", "on-request", "change it"];
    const terminal = openTmux({ cwd: repository, env: { AGENT_HOME: home }, args, columns });
    await expect.poll(terminal.screen).toContain("h Decide hunk by hunk");
    terminal.keys("h");
    await expect
      .poll(terminal.screen)
      .toMatch(/Hunk 1 of 2: a\.txt[\s\S]*-one[\s\S]*\+日本語 one[\s\S]*y Apply this hunk/);
    terminal.keys("y");
    await expect.poll(terminal.screen).toMatch(/Hunk 2 of 2: a\.txt[\s\S]*-two/);
    terminal.keys("n");
    await expect.poll(terminal.screen).toContain("Why not?");
    terminal.keys("Enter");
    await expect.poll(terminal.screen).toMatch(/Understood\.[\s\S]*Ask for a change/);
    expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("日本語 one\ntwo\n");

    terminal.paste(pasted.join("\n"));
    await expect.poll(terminal.screen).toContain("[Pasted text #1: 5,000 lines]");
    terminal.keys("Enter");
    await expect.poll(terminal.screen).toMatch(/Read\.[\s\S]*Ask for a change/);
    expect(JSON.stringify(requests()[2]?.body)).toContain(pasted.join("\\n"));

    terminal.type("wait for it");
    terminal.keys("Enter");
    await expect.poll(terminal.screen).toContain("running until");
    terminal.keys("Escape");
    await expect.poll(terminal.screen).toMatch(/■ Interrupted\.[\s\S]*Ask for a change/);

    terminal.keys("Escape");
    await expect.poll(terminal.screen).toContain("Press Escape again");
    terminal.keys("Escape");
    await expect.poll(terminal.screen).toContain("❯ wait for it");
    terminal.keys("Enter");
    await expect.poll(terminal.screen).toContain("Forked from");
    terminal.type(" no longer");
    terminal.keys("Enter");
    await expect.poll(terminal.screen).toContain("Answer in the fork.");
    const sent = JSON.stringify(requests().at(-1)?.body);
    expect(sent).toContain("wait for it no longer");
    expect(sent).toContain("Understood.");
  },
);
