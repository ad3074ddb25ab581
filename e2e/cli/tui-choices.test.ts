// What a user is asked before a thread, and what the terminal and the message can do besides.
import { chmodSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { call, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { expect, onTestFinished, test } from "vitest";
import { openMemoryTerminal, openTmux } from "../support/terminal.ts";
import { guard } from "./hook-harness.ts";

const onePixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

test("configuration and hooks of a project are asked about with their content, and used after a yes", async () => {
  const { repository, home, run, requests } = await openHarness({
    replies: [replyWith("Begun.")],
    files: { ...guard, ".agentcli/config.toml": 'developer_instructions = "Say begun."\n' },
  });
  const terminal = openTmux({ cwd: repository, env: { AGENT_HOME: home }, columns: 100 });
  await expect.poll(terminal.screen).toContain("Use the configuration of");
  expect(terminal.screen()).toContain('developer_instructions = "Say begun."');
  terminal.keys("Down", "Enter");
  await expect.poll(terminal.screen).toContain("Let these hooks run?");
  expect(terminal.screen()).toContain("protect-migrations.mjs");
  terminal.keys("Down", "Enter");
  await expect.poll(terminal.screen).toContain("Ask for a change");
  terminal.type("begin");
  terminal.keys("Enter");
  await expect.poll(terminal.screen).toContain("Begun.");
  expect(JSON.stringify(requests()[0]?.body)).toContain("Say begun.");
  expect(readFileSync(join(home, "config.toml"), "utf8")).toContain('trust_level = "trusted"');
  expect((await run(["hooks", "list", "--effective"])).stdout).toContain("protect-migrations");
});

test("a project that is not trusted is not used and not asked about again, and hooks do not run", async () => {
  const { repository, home, run } = await openHarness({
    files: { ...guard, ".agentcli/config.toml": 'developer_instructions = "Say begun."\n' },
  });
  const first = openTmux({ cwd: repository, env: { AGENT_HOME: home } });
  await expect.poll(first.screen).toContain("Use the configuration of");
  first.keys("Enter");
  await expect.poll(first.screen).toContain("Let these hooks run?");
  first.keys("Escape");
  await expect.poll(first.screen).toContain("Ask for a change");
  expect(readFileSync(join(home, "config.toml"), "utf8")).toContain('trust_level = "untrusted"');
  expect((await run(["hooks", "list", "--effective"])).stdout).toBe("");
  const again = openTmux({ cwd: repository, env: { AGENT_HOME: home } });
  await expect.poll(again.screen).toContain("Let these hooks run?");
});

test("an answer is copied, an image of the clipboard attached, the budget shown, and vi keys edit the message", async () => {
  const usage = { inputTokens: 600, outputTokens: 200 };
  const { repository, home, requests } = await openHarness({
    replies: [
      replyWith("Copy me: \u001b[31mred", { usage }),
      call("exec_command", { cmd: "true" }),
      replyWith("Seen."),
    ],
  });
  const png = Buffer.from(onePixel, "base64");
  const { path: tools, remove } = await temporaryDirectory();
  onTestFinished(remove);
  writeFileSync(join(repository, "clipboard.png"), png);
  writeFileSync(join(tools, "xclip"), `#!/bin/sh\nexec cat ${join(repository, "clipboard.png")}\n`);
  chmodSync(join(tools, "xclip"), 0o755);
  const env = { AGENT_HOME: home, PATH: `${tools}:${process.env.PATH}` };
  const terminal = openMemoryTerminal({
    cwd: repository,
    env,
    args: ["--budget", "tokens=4k", "begin with it"],
    columns: 120,
  });
  await expect.poll(terminal.screen).toMatch(/budget 20%.*800 tokens/);
  terminal.type("/copy\r");
  await expect.poll(terminal.screen).toContain("Copied the last answer.");
  expect(terminal.written()).toContain(`\u001b]52;c;${Buffer.from("Copy me: \u001b[31mred").toString("base64")}\u0007`);
  terminal.type("/vim\r");
  await expect.poll(terminal.screen).toContain("Keys as in vi");
  terminal.type("look twice at it");
  await expect.poll(terminal.screen).toContain("› look twice at it");
  terminal.type("\u001b");
  await expect.poll(terminal.screen).toContain("▪ look twice at it");
  terminal.type("0wdw");
  await expect.poll(terminal.screen).toContain("▪ look at it");
  terminal.type("\u0016");
  await expect.poll(terminal.screen).toMatch(/\[image .*clipboard/);
  terminal.type("\r");
  await expect.poll(terminal.screen).toContain("Seen.");
  const sent = JSON.stringify(requests()[1]?.body);
  expect(sent).toContain("look at it");
  expect(sent).toContain(onePixel);
});
