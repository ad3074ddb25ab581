// `agentcli acp` as an editor uses it, driven by the official client library.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { call, fault, replyWith, temporaryDirectory } from "@agentcli/testkit";
import { openHarness } from "@agentcli/testkit/cli";
import { stdioServerProgram } from "@agentcli/testkit/mcp";
import type { McpServer, SessionUpdate, SetSessionConfigOptionRequest } from "@agentclientprotocol/sdk";
import { expect, onTestFinished, test } from "vitest";
import { type Editor, initialize, openEditor } from "./acp-client.ts";

const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
const patch = "*** Begin Patch\n*** Update File: a.txt\n@@\n one\n-two\n+zwei\n*** End Patch";
const plan = [
  { step: "Look", status: "completed" },
  { step: "Change a.txt", status: "in_progress" },
];

const textOf = (updates: SessionUpdate[], kind: string): string =>
  updates
    .map((update) =>
      update.sessionUpdate === kind && "content" in update && isText(update.content) ? update.content.text : "",
    )
    .join("");
const isText = (content: unknown): content is { text: string } =>
  typeof (content as { text?: unknown })?.text === "string";
const named = <Kind extends SessionUpdate["sessionUpdate"]>(updates: SessionUpdate[], kind: Kind) =>
  updates.filter((update): update is Extract<SessionUpdate, { sessionUpdate: Kind }> => update.sessionUpdate === kind);

/** Prompts, and what the editor was shown of it. */
async function promptFor(editor: Editor, sessionId: string, text: string) {
  editor.updates.length = 0;
  const { stopReason } = await editor.agent.request("session/prompt", {
    sessionId,
    prompt: [{ type: "text", text }],
  });
  return { stopReason, updates: [...editor.updates] };
}

test("an editor starts a session, sends a file and an image, gives a permission, sees plan and diff, cancels and loads it again", async () => {
  const elsewhere = await temporaryDirectory();
  onTestFinished(elsewhere.remove);
  const outside = join(elsewhere.path, "outside");
  const harness = await openHarness({
    replies: [
      call("update_plan", { plan }),
      call("apply_patch", { input: patch }),
      call("exec_command", {
        cmd: `touch ${outside} && echo made`,
        sandbox_permissions: "require_escalated",
        justification: "It is outside of the project.",
      }),
      replyWith("All **done**."),
      call("exec_command", { cmd: "echo begun; until [ -e go ]; do sleep 0.05; done", yield_time_ms: 60_000 }),
      replyWith("After the cancel."),
    ],
    files: { "a.txt": "one\ntwo\nthree\n", "b.txt": "bee\n" },
  });
  const { repository } = harness;
  const editor = openEditor(harness);
  const { agent } = editor;
  const { protocolVersion, agentCapabilities } = await initialize(editor);
  expect(protocolVersion).toBe(1);
  expect(agentCapabilities).toMatchObject({ loadSession: true, promptCapabilities: { image: true } });
  const { sessionId, modes, configOptions } = await agent.request("session/new", { cwd: repository, mcpServers: [] });
  expect(modes?.currentModeId).toBe("auto");
  expect(configOptions?.map(({ category }) => category)).toEqual(expect.arrayContaining(["mode", "model"]));
  await expect.poll(() => named(editor.updates, "available_commands_update")).toHaveLength(1);

  editor.answer(() => "accept");
  const { stopReason } = await agent.request("session/prompt", {
    sessionId,
    prompt: [
      { type: "text", text: "change it" },
      { type: "resource_link", name: "b.txt", uri: pathToFileURL(join(repository, "b.txt")).href },
      { type: "resource", resource: { uri: "file:///tmp/unsaved.txt", text: "not saved yet" } },
      { type: "image", mimeType: "image/png", data: png },
    ],
  });
  expect(stopReason).toBe("end_turn");
  const sent = JSON.stringify(harness.requests()[0]?.body);
  expect(sent).toContain(join(repository, "b.txt"));
  expect(sent).toContain("not saved yet");
  expect(sent).toContain(`data:image/png;base64,${png}`);

  expect(textOf(editor.updates, "agent_message_chunk")).toBe("All **done**.");
  expect(named(editor.updates, "plan").at(-1)?.entries).toMatchObject([
    { content: "Look", status: "completed" },
    { content: "Change a.txt", status: "in_progress" },
  ]);
  const diff = {
    type: "diff",
    path: join(repository, "a.txt"),
    oldText: "one\ntwo\nthree\n",
    newText: "one\nzwei\nthree\n",
  };
  expect(named(editor.updates, "tool_call_update").flatMap(({ content }) => content ?? [])).toContainEqual(diff);
  expect(editor.asked).toMatchObject([
    {
      sessionId,
      toolCall: { title: `touch ${outside} && echo made`, kind: "execute" },
      options: [
        { optionId: "accept", kind: "allow_once" },
        { optionId: "acceptForSession", kind: "allow_always" },
        { optionId: "decline", kind: "reject_once" },
        { optionId: "cancel", kind: "reject_once" },
      ],
    },
  ]);
  expect(JSON.stringify(editor.asked[0]?.toolCall.content)).toContain("It is outside of the project.");
  expect(existsSync(outside)).toBe(true);
  expect(JSON.stringify(named(editor.updates, "tool_call_update"))).toContain("made");

  const waiting = promptFor(editor, sessionId, "wait for me");
  await expect.poll(() => JSON.stringify(editor.updates)).toContain("begun");
  await agent.notify("session/cancel", { sessionId });
  expect((await waiting).stopReason).toBe("cancelled");
  writeFileSync(join(repository, "go"), "");
  expect(await promptFor(editor, sessionId, "and now?")).toMatchObject({ stopReason: "end_turn" });

  const { sessions } = await agent.request("session/list", { cwd: repository });
  expect(sessions).toMatchObject([{ sessionId, cwd: repository, title: expect.stringContaining("change it") }]);
  expect(await editor.end()).toBe(0);

  const again = openEditor(harness);
  await initialize(again);
  await again.agent.request("session/load", { sessionId, cwd: repository, mcpServers: [] });
  expect(textOf(again.updates, "user_message_chunk")).toMatch(/change it[\s\S]*wait for me[\s\S]*and now\?/);
  expect(textOf(again.updates, "agent_message_chunk")).toBe("All **done**.After the cancel.");
  expect(JSON.stringify(again.updates)).toContain(png);
  expect(named(again.updates, "tool_call").map(({ kind }) => kind)).toEqual(["edit", "execute", "execute"]);
  await again.agent.request("session/delete", { sessionId });
  expect((await again.agent.request("session/list", {})).sessions).toEqual([]);
  expect([...editor.problems, ...again.problems]).toEqual([]);
  expect(editor.checked()).toBeGreaterThan(20);
});

test("an editor changes mode and model, refuses an edit, shows output as a terminal, and brings an MCP server along", async () => {
  const harness = await openHarness({
    replies: [
      call("apply_patch", { input: patch }),
      replyWith("Not changed."),
      call("exec_command", { cmd: "echo printed; exit 3" }),
      call("mcp__editor_tools__echo", { text: "from the editor" }),
      replyWith("Done."),
    ],
    files: { "a.txt": "one\ntwo\n" },
  });
  const { repository } = harness;
  const editor = openEditor(harness);
  const { agent } = editor;
  await initialize(editor, { _meta: { terminal_output: true } });
  const server: McpServer = { name: "editor.tools", command: process.execPath, args: [stdioServerProgram], env: [] };
  const { sessionId } = await agent.request("session/new", { cwd: repository, mcpServers: [server] });

  await agent.request("session/set_mode", { sessionId, modeId: "read-only" });
  await expect.poll(() => named(editor.updates, "config_option_update")).toHaveLength(1);
  expect(named(editor.updates, "config_option_update")[0]?.configOptions[0]?.currentValue).toBe("read-only");
  const refused = { sessionId, configId: "model", value: "no-such-model" };
  await expect(agent.request("session/set_config_option", refused)).rejects.toThrow(/Model has no value no-such-model/);
  editor.answer(() => "decline");
  const first = await promptFor(editor, sessionId, "change it");
  expect(first.stopReason).toBe("end_turn");
  expect(editor.asked[0]?.toolCall.content).toContainEqual({
    type: "diff",
    path: join(repository, "a.txt"),
    oldText: "one\ntwo\n",
    newText: "one\nzwei\n",
  });
  expect(readFileSync(join(repository, "a.txt"), "utf8")).toBe("one\ntwo\n");

  const auto: SetSessionConfigOptionRequest = { sessionId, configId: "mode", value: "auto" };
  const { configOptions } = await agent.request("session/set_config_option", auto);
  expect(configOptions[0]).toMatchObject({ id: "mode", currentValue: "auto" });
  editor.answer(() => "accept");
  const second = await promptFor(editor, sessionId, "print it");
  const shown = named(second.updates, "tool_call_update");
  expect(shown.map(({ _meta }) => (_meta?.terminal_output as { data?: string })?.data ?? "").join("")).toBe(
    "printed\n",
  );
  expect(shown.find(({ _meta }) => _meta?.terminal_exit)).toMatchObject({
    status: "failed",
    _meta: { terminal_exit: { exit_code: 3 } },
  });
  expect(JSON.stringify(second.updates)).toContain("from the editor");
  expect(editor.problems).toEqual([]);
});

test("errors name what is wrong, a second prompt ends the first, and the end of its input ends the program", async () => {
  const waits = call("exec_command", { cmd: "until [ -e go ]; do sleep 0.05; done", yield_time_ms: 60_000 });
  const harness = await openHarness({ replies: [waits, replyWith("The second."), fault(401)] });
  const { repository } = harness;
  const editor = openEditor(harness);
  const { agent } = editor;
  await initialize(editor);
  await expect(agent.request("session/new", { cwd: "relative", mcpServers: [] })).rejects.toThrow(/absolute path/);
  await expect(agent.request("session/prompt", { sessionId: "none", prompt: [] })).rejects.toThrow(/none|not found/i);
  const unknown = { sessionId: "0199a0a0-0000-7000-8000-000000000000", cwd: repository, mcpServers: [] };
  await expect(agent.request("session/load", unknown)).rejects.toThrow(/not found/i);
  const { sessionId } = await agent.request("session/new", { cwd: repository, mcpServers: [] });
  const first = promptFor(editor, sessionId, "wait");
  await expect.poll(() => named(editor.updates, "tool_call")).toHaveLength(1);
  const second = agent.request("session/prompt", { sessionId, prompt: [{ type: "text", text: "instead" }] });
  expect((await first).stopReason).toBe("cancelled");
  expect((await second).stopReason).toBe("end_turn");
  await expect(promptFor(editor, sessionId, "a third time")).rejects.toMatchObject({ code: -32000 });
  expect(editor.problems).toEqual([]);
  expect(await editor.end()).toBe(0);
});
