// MCP servers under test: a workspace for their processes, a host, and tool calls by the server's own names.
import type { Tool, ToolContext } from "@agentcli/engine";
import { policyGuard } from "@agentcli/engine";
import type { McpServer, Outcome, TurnSettings } from "@agentcli/protocol";
import { temporaryDirectory } from "@agentcli/testkit";
import { stdioServerProgram } from "@agentcli/testkit/mcp";
import { openServer } from "@agentcli/workspace";
import { onTestFinished } from "vitest";
import { type McpHost, type McpServers, noAuthorization, openMcpServers, readSettings } from "../src/index.ts";

/** The fake server as a configuration, with options of its own as NAME=VALUE. */
export const fake = (...options: string[]): McpServer => ({
  command: process.execPath,
  args: [stdioServerProgram, ...options],
});

export interface Harness {
  directory: string;
  servers: McpServers;
  /** Runs the tool; throws if there is no such tool. */
  call(tool: string, args?: object, context?: Partial<ToolContext>): Promise<Outcome>;
  tool(name: string): Tool;
}

export async function openHarness(
  configured: Record<string, McpServer>,
  changes: Partial<McpHost> & { directory?: string } = {},
): Promise<Harness> {
  const temporary = await temporaryDirectory();
  const workspace = await openServer({
    root: temporary.path,
    writable: "anywhere",
    env: { PATH: process.env.PATH ?? "" },
    orphans: "ended-by-watchdog",
  });
  const servers = openMcpServers(
    Object.entries(configured).map(([name, server]) => read(name, server)),
    {
      client: { name: "test", version: "1" },
      root: temporary.path,
      variables: { ...process.env, FORWARDED: "passed on", WITHHELD: "secret" },
      sanitize: (text) => text.replaceAll("hidden", ""),
      workspaceFor: async () => workspace,
      authorize: () => noAuthorization("log in"),
      ...changes,
    },
  );
  onTestFinished(async () => {
    await servers.close();
    await workspace.close();
    await temporary.remove();
  });
  const tool = (name: string) => {
    const match = servers.tools().find((candidate) => candidate.name === name || candidate.mcp?.tool === name);
    if (!match) throw new Error(`no tool ${name} among ${servers.tools().map(({ name: toolName }) => toolName)}`);
    return match;
  };
  return {
    directory: temporary.path,
    servers,
    tool,
    call: (name, args = {}, context = {}) =>
      tool(name).run(args, { ...limits(), workspace, ...context } as ToolContext),
  };
}

function read(name: string, server: McpServer) {
  const settings = readSettings(name, server);
  if (settings.kind === "problem") throw new Error(settings.message);
  return settings.settings;
}

const limits = () => ({
  callId: "1.0",
  toolTimeoutMs: 60_000,
  outputTokens: 10_000,
  signal: new AbortController().signal,
});

export const textOf = ({ parts }: Outcome): string =>
  parts.map((part) => (part.type === "text" ? part.text : `<${part.type}>`)).join("\n");

/** The guard's verdict on a call in a run that never asks. */
export const guardVerdict = (servers: McpServers, name: string) =>
  servers.guard(policyGuard).admit({ name, args: {} }, { sandbox: "read-only", approval: "never" } as TurnSettings);
