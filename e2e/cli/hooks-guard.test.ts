import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, type Reply, replyWith } from "@agentcli/testkit";
import { type Event, type Harness, itemsOf, openHarness, toolOutputs } from "@agentcli/testkit/cli";
import { describe, expect, test } from "vitest";
import { expectUnchanged, guard, openTrustingHarness, patch, platformGuard, refusal, run } from "./hook-harness.ts";

const filesystem = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", import.meta.url),
);
const server = `[mcp_servers.files]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([filesystem, "."])}
default_tools_approval_mode = "approve"
`;

/** Every way to write a file, in one reply; each writes a different file. */
const everyWay: Reply = {
  calls: [
    { name: "exec_command", arguments: { cmd: "echo x > migrations/002.sql" }, callId: "shell" },
    { name: "apply_patch", arguments: { input: patch.replace("002", "003") }, callId: "patch" },
    { name: "mcp__files__write_file", arguments: { path: "migrations/004.sql", content: "x" }, callId: "server" },
  ],
};
const written = ["migrations/002.sql", "migrations/003.sql", "migrations/004.sql"];

const dialects = {
  agentcli: { files: guard, events: ["PreToolUse", "PreToolUse", "PreToolUse"] },
  platform: { files: platformGuard, events: ["beforeShellExecution", "preToolUse", "beforeMCPExecution"] },
};
const names = ["agentcli", "platform"] as const;

const refused = (events: string[]) => events.map((event) => ({ event, status: "blocked", reason: refusal }));
const hooksIn = (events: Event[]) => itemsOf(events, "hook").toSorted((one, two) => order(one) - order(two));
const order = ({ event }: Record<string, unknown>): number => dialects.platform.events.indexOf(String(event));

function expectNothingWritten(harness: Harness): void {
  for (const path of written) expect(existsSync(join(harness.repository, path))).toBe(false);
  expectUnchanged(harness);
}

describe.each(names)("a hook of the %s dialect that guards migrations/", (dialect) => {
  const { files, events: asked } = dialects[dialect];

  test("refuses every way of writing, in exec and in resume", async () => {
    const replies = [everyWay, replyWith("All right."), everyWay, replyWith("Still not.")];
    const harness = await openTrustingHarness({ replies, files, config: server });
    for (const args of [
      ["-s", "workspace-write", "go on"],
      ["resume", "--last", "go on"],
    ]) {
      const { code, events } = await harness.events(args);
      expect(code).toBe(0);
      expectNothingWritten(harness);
      expect(hooksIn(events)).toMatchObject(refused(asked));
      const declined = events.flatMap(({ type, item }) => (type === "item.completed" ? [item] : []));
      for (const type of ["command_execution", "file_change", "mcp_tool_call"]) {
        const reason = expect.stringContaining(refusal);
        expect(declined).toContainEqual(expect.objectContaining({ type, status: "declined", reason }));
      }
      const outputs = toolOutputs(harness.requests().at(-1)).slice(-3);
      for (const text of outputs) expect(text).toContain(refusal);
    }
  });

  test("refuses a sub-agent every way of writing, in exec and in resume, and the run shows that it did", async () => {
    const child = "You do one piece";
    const replies = [
      { ...replyWith("The child is done."), when: { bodyIncludes: "subagent_notification" } },
      { ...replyWith("Refused."), when: { bodyIncludes: refusal } },
      { ...everyWay, when: { bodyIncludes: child } },
      { ...run("sleep 0.2"), when: { bodyIncludes: "agent_id" } },
      call("spawn_agent", { message: "write it", agent_type: "worker" }),
    ];
    const first = await openTrustingHarness({ replies: { replies, repeat: "always" }, files, config: server });
    const { code, events } = await first.events(["-s", "workspace-write", "--budget", "turns=60", "delegate it"]);
    expect(code).toBe(0);
    expectNothingWritten(first);
    const byChild = itemsOf(events, "hook").filter(({ agent_id }) => agent_id !== undefined);
    expect(byChild.toSorted((one, two) => order(one) - order(two))).toMatchObject(refused(asked));
    expect(events.at(-1)?.type).toBe("turn.completed");
    const begun = { ...replyWith("Begun."), when: { bodyIncludes: "only begin" } };
    const again = { ...call("spawn_agent", { message: "write it", agent_type: "worker" }) };
    const script = [...replies.slice(0, -1), { ...again, when: { bodyIncludes: "go on now" } }, begun];
    const second = await openTrustingHarness({ replies: { replies: script, repeat: "always" }, files, config: server });
    await second.events(["-s", "workspace-write", "only begin"]);
    const resumed = await second.events(["resume", "--last", "--budget", "turns=60", "go on now"]);
    expect(resumed.code).toBe(0);
    expectNothingWritten(second);
    const inResumed = itemsOf(resumed.events, "hook").filter(({ agent_id }) => agent_id !== undefined);
    expect(inResumed.toSorted((one, two) => order(one) - order(two))).toMatchObject(refused(asked));
  });

  test("does not run untrusted: everything is written, with a warning", async () => {
    const harness = await openHarness({ replies: [everyWay, replyWith("Done.")], files, config: server });
    const { code, events } = await harness.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(0);
    for (const path of written) expect(existsSync(join(harness.repository, path))).toBe(true);
    const reason = expect.stringContaining("not trusted");
    const skipped = [...new Set(asked)].map((event) => ({ event, status: "skipped", reason, duration_ms: 0 }));
    expect(hooksIn(events)).toMatchObject(skipped);
  });

  test("denies every way of writing once it was modified during the thread", async () => {
    const [script = ""] = Object.keys(files).filter((path) => /js$/.test(path));
    const replies = [run(`echo > ${script.replace("migrations", "*")}`), everyWay, replyWith("Done.")];
    const harness = await openTrustingHarness({ replies, files, config: server });
    const { events } = await harness.events(["--dangerously-bypass-approvals-and-sandbox", "go on"]);
    expectNothingWritten(harness);
    const modified = hooksIn(events).filter(({ status }) => status === "blocked");
    expect(modified).toMatchObject(asked.map((event) => ({ event, reason: "hook modified" })));
  });
});

describe("a trusted hook that guards a directory", () => {
  test.each([
    ["a redirection", run("echo x > migrations/002.sql"), "Command blocked by PreToolUse hook"],
    ["a patch", call("apply_patch", { input: patch }), "Tool call blocked by PreToolUse hook"],
    ["a patch given to the shell", run(`apply_patch <<'EOF'\n${patch}EOF`), "Tool call blocked by PreToolUse hook"],
    ["sed in place", run("sed -i s/create/drop/ migrations/001.sql"), "Command blocked by PreToolUse hook"],
  ])("refuses %s, in the events and to the model", async (_, reply, sentence) => {
    const harness = await openTrustingHarness({
      replies: [reply, run("cat migrations/001.sql"), replyWith("All right.")],
      files: guard,
    });
    const { code, events } = await harness.events(["-s", "workspace-write", "go on"]);
    expect(code).toBe(0);
    expectUnchanged(harness);
    const outputs = toolOutputs(harness.requests().at(-1));
    expect(outputs[0]).toContain(`${sentence}: ${refusal}. `);
    expect(outputs[1]).toContain("create table items;");
    expect(itemsOf(events, "hook")).toMatchObject([
      { event: "PreToolUse", source: "project", status: "blocked", reason: refusal },
      { event: "PreToolUse", source: "project", status: "completed", reason: "" },
    ]);
    const refused = events.find(({ item }) => (item as { status?: string })?.status === "declined");
    expect(refused?.item).toMatchObject({ reason: expect.stringContaining(refusal) });
  });

  test("refuses input to a shell that is still running", async () => {
    const replies = [
      call("exec_command", { cmd: "bash", tty: true, yield_time_ms: 250 }),
      { ...call("write_stdin", { session_id: 0, chars: "echo x > migrations/002.sql\n" }) },
      replyWith("Done."),
    ];
    const harness = await openTrustingHarness({ replies, files: guard });
    await harness.events(["-s", "workspace-write", "go on"]);
    expectUnchanged(harness);
    expect(toolOutputs(harness.requests().at(-1)).at(-1)).toContain("Tool: write_stdin");
  });

  test("refuses in a resumed thread too, and in a directory below", async () => {
    const replies = [replyWith("Begun."), run("echo x > ../migrations/002.sql"), replyWith("Done.")];
    const harness = await openTrustingHarness({ replies, files: { ...guard, "src/a.js": "" } });
    await harness.events(["-s", "workspace-write", "-C", "src", "--add-dir", ".", "begin"]);
    const { events } = await harness.events(["resume", "--last", "--all", "go on"]);
    expectUnchanged(harness);
    expect(itemsOf(events, "hook")).toMatchObject([{ status: "blocked", reason: refusal }]);
  });
});
