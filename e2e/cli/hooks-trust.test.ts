import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { replyWith } from "@agentcli/testkit";
import { itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";
import { agentcliHooks, expectUnchanged, guard, openTrustingHarness, refusal, run, write } from "./hook-harness.ts";

describe("trust", () => {
  const writing = [run("echo x > migrations/002.sql"), replyWith("Done.")];

  test("without it a hook does not run, with a warning", async () => {
    const harness = await openHarness({ replies: writing, files: guard });
    const { code, events } = await harness.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(0);
    expect(existsSync(join(harness.repository, "migrations/002.sql"))).toBe(true);
    expect(itemsOf(events, "hook")).toMatchObject([
      { event: "PreToolUse", status: "skipped", reason: expect.stringContaining("not trusted"), duration_ms: 0 },
    ]);
  });

  test("is given to a hash on the command line, for one run", async () => {
    const harness = await openHarness({ replies: writing, files: guard });
    const [listed] = (await harness.run(["hooks", "list", "--json"])).stdout.trim().split("\n");
    const { trust_hash: hash, status } = JSON.parse(listed ?? "");
    expect(status).toBe("untrusted");
    await harness.events(["-s", "workspace-write", "--trust-hooks", hash, "go on"]);
    expectUnchanged(harness);
    expect((await harness.run(["hooks", "list", "--effective"])).stdout).toBe("");
    expect((await harness.run(["exec", "--trust-hooks", "abc", "go on"])).code).toBe(2);
  });

  test("is not given to a hash on the command line once a file that the hook runs has changed", async () => {
    const files = {
      ".agentcli/hooks.json": agentcliHooks({ PreToolUse: [{ command: "sh tools/check.sh" }] }),
      "tools/check.sh": "exit 0\n",
    };
    const harness = await openHarness({ replies: [...writing, ...writing], files });
    const { trust_hash: hash } = JSON.parse((await harness.run(["hooks", "list", "--json"])).stdout);
    const trusting = ["-s", "workspace-write", "--trust-hooks", hash, "go on"];
    expect(itemsOf((await harness.events(trusting)).events, "hook")).toMatchObject([{ status: "completed" }]);
    write(harness.repository, "tools/check.sh", "touch ran-outside\n");
    expect(itemsOf((await harness.events(trusting)).events, "hook")).toMatchObject([
      { status: "skipped", reason: expect.stringContaining("not trusted") },
    ]);
    expect(existsSync(join(harness.repository, "ran-outside"))).toBe(false);
  });

  test("of a thread persists: its initial hooks run when it is resumed, later ones do not", async () => {
    const harness = await openHarness({ replies: [replyWith("Begun."), ...writing], files: guard });
    const { trust_hash: hash } = JSON.parse((await harness.run(["hooks", "list", "--json"])).stdout);
    await harness.events(["-s", "workspace-write", "--trust-hooks", hash, "begin"]);
    write(harness.home, "hooks.json", agentcliHooks({ PreToolUse: [{ command: "exit 2" }] }));
    await harness.run(["hooks", "trust", `${harness.home}/hooks.json:pre_tool_use:0:0`]);
    const { events } = await harness.events(["resume", "--last", "go on"]);
    expectUnchanged(harness);
    expect(itemsOf(events, "hook")).toMatchObject([
      { source: "user", status: "skipped", reason: "the thread began without it" },
      { source: "project", status: "blocked", reason: refusal },
    ]);
  });

  test("of a thread persists when another hook of its file is removed, which is named with the way on", async () => {
    const harness = await openHarness({ replies: [replyWith("Begun."), run("echo harmless"), replyWith("Done.")] });
    const path = `${harness.home}/hooks.json`;
    const stays = { PostToolUse: [{ command: "true" }] };
    const first = { command: "echo first" };
    const second = { command: "echo second" };
    write(harness.home, "hooks.json", agentcliHooks({ UserPromptSubmit: [first, second], ...stays }));
    await harness.run(["hooks", "trust", "--all"]);
    await harness.events(["begin"]);
    write(harness.home, "hooks.json", agentcliHooks({ UserPromptSubmit: [second, first] }));
    const { events } = await harness.events(["resume", "--last", "go on"]);
    const reason = `no longer in ${path}: switch it off in hooks.state or begin a new thread`;
    const hooks = itemsOf(events, "hook");
    expect(hooks).toMatchObject([
      { event: "PostToolUse", status: "skipped", reason },
      { event: "UserPromptSubmit", status: "completed" },
      { event: "UserPromptSubmit", status: "completed" },
      { event: "PostToolUse", reason: "hook modified" },
    ]);
  });

  test("of a thread does not extend to a modified hook", async () => {
    const harness = await openTrustingHarness({ replies: [replyWith("Begun."), ...writing], files: guard });
    await harness.events(["-s", "workspace-write", "begin"]);
    write(harness.repository, ".agentcli/hooks/protect-migrations.mjs", "process.exit(0);\n");
    await harness.run(["hooks", "trust", "--all"]);
    const { events } = await harness.events(["resume", "--last", "go on"]);
    expectUnchanged(harness);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "blocked", reason: "hook modified" }]);
  });

  test("is not asked for with --dangerously-bypass-hook-trust", async () => {
    const harness = await openHarness({ replies: writing, files: guard });
    await harness.events(["-s", "workspace-write", "--dangerously-bypass-hook-trust", "go on"]);
    expectUnchanged(harness);
  });

  test("is granted, listed and revoked by commands", async () => {
    const harness = await openTrustingHarness({ files: guard });
    const list = async () => (await harness.run(["hooks", "list"])).stdout;
    expect(await list()).toMatch(/^trusted {2}project {2}PreToolUse/);
    write(harness.repository, ".agentcli/hooks/protect-migrations.mjs", "process.exit(0);\n");
    expect(await list()).toMatch(/^modified /);
    expect((await harness.run(["hooks", "untrust", "--all"])).code).toBe(0);
    expect(await list()).toMatch(/^untrusted /);
    expect(readFileSync(join(harness.home, "config.toml"), "utf8")).not.toContain("hooks");
    expect((await harness.run(["hooks", "trust", "nonsense"])).code).toBe(2);
  });

  test.each([
    ["its script", "echo // > .agentcli/hooks/protect-*.mjs", ".agentcli/hooks/protect-migrations.mjs"],
    ["its definition", "echo {} > .agentcli/hooks.json", ".agentcli/hooks.json"],
  ])("is lost when %s changes during the thread: the hook denies", async (_, change, file) => {
    const text = guard[file as keyof typeof guard];
    const replies = [run(change), run("echo harmless"), replyWith("Done.")];
    const harness = await openTrustingHarness({ replies, files: guard });
    const { events } = await harness.events(["--dangerously-bypass-approvals-and-sandbox", "go on"]);
    expect(readFileSync(join(harness.repository, file), "utf8")).not.toBe(text);
    expect(itemsOf(events, "hook").at(-1)).toMatchObject({ status: "blocked", reason: "hook modified" });
    expect(toolOutputs(harness.requests().at(-1)).at(-1)).toBe(
      "Command blocked by PreToolUse hook: hook modified. Command: echo harmless",
    );
  });
});
