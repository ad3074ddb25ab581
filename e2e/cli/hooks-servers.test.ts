import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { call, replyWith } from "@agentcli/testkit";
import { type Harness, itemsOf, toolOutputs } from "@agentcli/testkit/cli";
import { startHttpMcpServer } from "@agentcli/testkit/mcp";
import { describe, expect, test } from "vitest";
import { agentcliHooks, openTrustingHarness, run } from "./hook-harness.ts";

const filesystem = fileURLToPath(
  new URL("../../node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", import.meta.url),
);
const server = `[mcp_servers.files]
command = ${JSON.stringify(process.execPath)}
args = ${JSON.stringify([filesystem, "."])}
default_tools_approval_mode = "approve"
`;
const reading = [call("mcp__files__read_text_file", { path: "notes.txt" }), replyWith("Done.")];
const payloadIn = ({ repository }: Harness, name: string) => JSON.parse(readFileSync(join(repository, name), "utf8"));

describe("a call to an MCP server", () => {
  test("is reported to hooks of the agentcli dialect with its arguments and its result", async () => {
    const files = {
      "notes.txt": "one\ntwo\n",
      ".agentcli/hooks.json": agentcliHooks({
        PreToolUse: [{ command: "cat > before.json" }],
        PostToolUse: [{ command: "cat > after.json" }],
      }),
    };
    const harness = await openTrustingHarness({ replies: reading, files, config: server });
    const { events } = await harness.events(["go on"]);
    expect(itemsOf(events, "mcp_tool_call")).toMatchObject([{ status: "completed" }]);
    const tool = { tool_name: "mcp__files__read_text_file", tool_input: { path: "notes.txt" } };
    expect(payloadIn(harness, "before.json")).toMatchObject(tool);
    expect(payloadIn(harness, "after.json")).toMatchObject({
      ...tool,
      tool_response: { content: [{ type: "text", text: "one\ntwo\n" }], isError: false },
    });
  });

  test("is reported to hooks of the platform dialect with the command of its server, and its output can be replaced", async () => {
    const replaced = { updated_mcp_tool_output: { content: [{ type: "text", text: "nothing to see" }] } };
    const hooks = {
      beforeMCPExecution: [{ command: "cat > before.json; echo '{}'", matcher: "^MCP:read_text_file$" }],
      afterMCPExecution: [{ command: "cat > after.json" }],
      postToolUse: [{ command: `cat > post.json; echo '${JSON.stringify(replaced)}'`, matcher: "MCP:" }],
    };
    const files = { "notes.txt": "one\n", ".platform/hooks.json": JSON.stringify({ version: 1, hooks }) };
    const harness = await openTrustingHarness({ replies: reading, files, config: server });
    await harness.events(["go on"]);
    const called = { tool_name: "read_text_file", tool_input: '{"path":"notes.txt"}', mcp_server_name: "files" };
    const command = [process.execPath, filesystem, "."].join(" ");
    expect(payloadIn(harness, "before.json")).toMatchObject({ ...called, command });
    expect(payloadIn(harness, "before.json")).not.toHaveProperty("url");
    const after = payloadIn(harness, "after.json");
    expect(after).toMatchObject({ ...called, duration: expect.any(Number) });
    expect(JSON.parse(after.result_json)).toMatchObject({ content: [{ type: "text", text: "one\n" }] });
    expect(payloadIn(harness, "post.json")).toMatchObject({ tool_name: "MCP:read_text_file" });
    expect(toolOutputs(harness.requests().at(-1))).toEqual([JSON.stringify(replaced.updated_mcp_tool_output)]);
  });

  test("over HTTP is reported with the URL of its server", async () => {
    const { url } = await startHttpMcpServer();
    const hooks = {
      beforeMCPExecution: [{ command: "cat > before.json; echo '{}'" }],
      afterMCPExecution: [{ command: "cat > after.json" }],
    };
    const harness = await openTrustingHarness({
      replies: [call("mcp__web__echo", { message: "hello" }), replyWith("Done.")],
      files: { ".platform/hooks.json": JSON.stringify({ version: 1, hooks }) },
      config: `[mcp_servers.web]\nurl = "${url}"\ndefault_tools_approval_mode = "approve"\n`,
    });
    await harness.events(["go on"]);
    const called = { tool_name: "echo", mcp_server_name: "web", mcp_server_url: url };
    expect(payloadIn(harness, "before.json")).toMatchObject({ ...called, url });
    expect(payloadIn(harness, "after.json")).toMatchObject(called);
    expect(payloadIn(harness, "before.json")).not.toHaveProperty("command");
  });
});

test("a hook that is an MCP tool decides by the result of the tool", async () => {
  const verdict = { decision: "block", reason: "the policy says no" };
  const input = { path: `\${tool_input.command}` };
  const hook = { type: "mcp_tool", server: "files", tool: "read_text_file", input };
  const files = {
    "policy.json": JSON.stringify(verdict),
    "plain.txt": "nothing against it",
    ".agentcli/hooks.json": JSON.stringify({ hooks: { PreToolUse: [{ matcher: "Bash", hooks: [hook] }] } }),
  };
  const replies = [run("policy.json"), run("plain.txt"), replyWith("Done.")];
  const harness = await openTrustingHarness({ replies, files, config: server });
  const { events } = await harness.events(["go on"]);
  expect(itemsOf(events, "hook")).toMatchObject([
    { status: "blocked", reason: "the policy says no" },
    { status: "completed", reason: "" },
  ]);
  expect(itemsOf(events, "command_execution")).toMatchObject([{ status: "declined" }, { status: "failed" }]);
});
