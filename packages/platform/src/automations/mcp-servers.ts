// MCP servers of an automation: what their headers and variables say is stored and never shown. Pure.
import type { Automation, McpServer } from "@agentcli/protocol/api";
import { invalid } from "../foundation/index.ts";

type Tools = Automation["tools"];
type Values = Record<string, string>;

/** What is shown in place of a value, and keeps it where it is sent back. */
export const hiddenValue = "***";

export function withoutValues({ mcpServers, ...tools }: Tools): Tools {
  if (mcpServers === undefined) return tools;
  return { ...tools, mcpServers: mcpServers.map((server) => withValues(server, () => hiddenValue)) };
}

export interface ToolsChange {
  /** As they are stored. */
  former: Tools;
  /** It becomes one of the team: what its user has entered is that user's. */
  isPromotion: boolean;
}

/** With the stored values where the change has hidden ones. Throws `validation_error`. */
export const restoreValues = (tools: Tools, { former, isPromotion }: ToolsChange): Tools =>
  replaceHidden(tools, isPromotion ? {} : former, (path) => {
    throw invalid([`${path}: ${isPromotion ? personal : unknown}`]);
  });

/** The same to compare with what is stored: a hidden value that is not known stays hidden. */
export const withKnownValues = (tools: Tools, former: Tools): Tools => replaceHidden(tools, former, () => hiddenValue);

function replaceHidden(
  { mcpServers, ...tools }: Tools,
  former: Pick<Tools, "mcpServers">,
  onUnknown: (path: string) => string,
): Tools {
  if (mcpServers === undefined) return tools;
  const restored = mcpServers.map((server, index) => {
    const same = former.mcpServers?.find((one) => isSame(one, server));
    return withValues(server, (value, member, name) => {
      if (value !== hiddenValue) return value;
      const kept = same && valuesOf(same, member);
      return kept !== undefined && Object.hasOwn(kept, name)
        ? (kept[name] ?? "")
        : onUnknown(`tools.mcpServers.${index}.${member}.${name}`);
    });
  });
  return { ...tools, mcpServers: restored };
}

const personal = "an automation of the team does not use what its user has entered; send the value for the team";
const unknown = "is hidden, and no value is stored for this server with the same address or command; send the value";

/** A value goes where it was entered for, and nowhere else. */
const isSame = (left: McpServer, right: McpServer): boolean => locationOf(left) === locationOf(right);

const locationOf = (server: McpServer): string =>
  JSON.stringify("url" in server ? [server.name, server.url] : [server.name, server.command, server.args ?? []]);

const valuesOf = (server: McpServer, member: "headers" | "env"): Values | undefined =>
  member === "headers" ? ("url" in server ? server.headers : undefined) : "url" in server ? undefined : server.env;

type Replace = (value: string, member: "headers" | "env", name: string) => string;

function withValues(server: McpServer, replace: Replace): McpServer {
  const member = "url" in server ? "headers" : "env";
  const values = valuesOf(server, member);
  if (values === undefined) return server;
  const replaced = Object.entries(values).map(([name, value]) => [name, replace(value, member, name)]);
  return { ...server, [member]: Object.fromEntries(replaced) };
}
