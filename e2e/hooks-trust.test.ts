import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { say } from "@agentcli/testkit";
import { describe, expect, test } from "vitest";
import { desk, itemsOf, toolOutputs } from "./harness.ts";
import { agentcliHooks, guard, refusal, run, trustingDesk, unchanged, write } from "./hook-desk.ts";

describe("trust", () => {
  const writing = [run("echo x > migrations/002.sql"), say("Done.")];

  test("without it a hook does not run, and the run says so", async () => {
    const at = await desk({ replies: writing, files: guard });
    const { code, events } = await at.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(0);
    expect(existsSync(join(at.repository, "migrations/002.sql"))).toBe(true);
    expect(itemsOf(events, "hook")).toMatchObject([
      { event: "PreToolUse", status: "skipped", reason: expect.stringContaining("not trusted"), duration_ms: 0 },
    ]);
  });

  test("is given to a hash on the command line, for one run", async () => {
    const at = await desk({ replies: writing, files: guard });
    const [listed] = (await at.run(["hooks", "list", "--json"])).stdout.trim().split("\n");
    const { hash, status } = JSON.parse(listed ?? "");
    expect(status).toBe("untrusted");
    await at.events(["-s", "workspace-write", "--trust-hooks", hash, "go on"]);
    unchanged(at);
    expect((await at.run(["hooks", "list", "--effective"])).stdout).toBe("");
    expect((await at.run(["exec", "--trust-hooks", "abc", "go on"])).code).toBe(2);
  });

  test("of a thread lasts: what it began with guards it when it is resumed, what came later does not run", async () => {
    const at = await desk({ replies: [say("Begun."), ...writing], files: guard });
    const { hash } = JSON.parse((await at.run(["hooks", "list", "--json"])).stdout);
    await at.events(["-s", "workspace-write", "--trust-hooks", hash, "begin"]);
    write(at.home, "hooks.json", agentcliHooks({ PreToolUse: [{ command: "exit 2" }] }));
    await at.run(["hooks", "trust", `${at.home}/hooks.json:pre_tool_use:0:0`]);
    const { events } = await at.events(["resume", "--last", "go on"]);
    unchanged(at);
    expect(itemsOf(events, "hook")).toMatchObject([
      { source: "user", status: "skipped", reason: "the thread began without it" },
      { source: "project", status: "blocked", reason: refusal },
    ]);
  });

  test("of a thread does not move to what its hook has become since", async () => {
    const at = await trustingDesk({ replies: [say("Begun."), ...writing], files: guard });
    await at.events(["-s", "workspace-write", "begin"]);
    write(at.repository, ".agentcli/hooks/protect-migrations.mjs", "process.exit(0);\n");
    await at.run(["hooks", "trust", "--all"]);
    const { events } = await at.events(["resume", "--last", "go on"]);
    unchanged(at);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "blocked", reason: "hook modified" }]);
  });

  test("is not asked for with --dangerously-bypass-hook-trust", async () => {
    const at = await desk({ replies: writing, files: guard });
    await at.events(["-s", "workspace-write", "--dangerously-bypass-hook-trust", "go on"]);
    unchanged(at);
  });

  test("is given, shown and taken back by commands", async () => {
    const at = await trustingDesk({ files: guard });
    const list = async () => (await at.run(["hooks", "list"])).stdout;
    expect(await list()).toMatch(/^trusted {2}project {2}PreToolUse/);
    write(at.repository, ".agentcli/hooks/protect-migrations.mjs", "process.exit(0);\n");
    expect(await list()).toMatch(/^modified /);
    expect((await at.run(["hooks", "untrust", "--all"])).code).toBe(0);
    expect(await list()).toMatch(/^untrusted /);
    expect(readFileSync(join(at.home, "config.toml"), "utf8")).not.toContain("hooks");
    expect((await at.run(["hooks", "trust", "nonsense"])).code).toBe(2);
  });

  test.each([
    ["its script", "echo // > .agentcli/hooks/protect-*.mjs", ".agentcli/hooks/protect-migrations.mjs"],
    ["its definition", "echo {} > .agentcli/hooks.json", ".agentcli/hooks.json"],
  ])("is lost by a hook when %s changes during the thread: it denies", async (_, change, file) => {
    const text = guard[file as keyof typeof guard];
    const replies = [run(change), run("echo harmless"), say("Done.")];
    const at = await trustingDesk({ replies, files: guard });
    const { events } = await at.events(["--dangerously-bypass-approvals-and-sandbox", "go on"]);
    expect(readFileSync(join(at.repository, file), "utf8")).not.toBe(text);
    expect(itemsOf(events, "hook").at(-1)).toMatchObject({ status: "blocked", reason: "hook modified" });
    expect(toolOutputs(at.requests().at(-1)).at(-1)).toBe(
      "Command blocked by PreToolUse hook: hook modified. Command: echo harmless",
    );
  });
});
