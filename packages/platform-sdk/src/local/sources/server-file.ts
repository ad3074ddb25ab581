// `mcp.json` of a project or a user: {"mcpServers": {"<name>": {"command": …} or {"url": …}}}.
import { readFileSync } from "node:fs";
import { ConfigurationError } from "../../errors.ts";
import type { McpServerConfig } from "../../options.ts";
import { fieldsOf } from "../../refusal.ts";

/** Nothing where there is no such file. One that cannot be understood is refused: a server less might go unnoticed. */
export function readServerFile(path: string): Record<string, McpServerConfig> {
  const text = readText(path);
  if (text === null) return {};
  const servers = fieldsOf(parsed(path, text)).mcpServers ?? {};
  if (typeof servers !== "object" || servers === null || Array.isArray(servers))
    throw wrong(path, "mcpServers must be an object");
  return Object.fromEntries(Object.entries(servers).map(([name, server]) => [name, serverIn(path, name, server)]));
}

function serverIn(path: string, name: string, server: unknown): McpServerConfig {
  const { type, command, args = [], env = {}, cwd, url, headers = {} } = fieldsOf(server);
  const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
  const location = `mcpServers.${name}`;
  if (isText(command) === isText(url)) throw wrong(path, `${location} needs command or url`);
  if (!isTexts(args)) throw wrong(path, `${location}.args must be a list of strings`);
  if (!isPairs(env) || !isPairs(headers)) throw wrong(path, `${location}: values of env and headers must be strings`);
  if (isText(command)) return { command, args, env, ...(isText(cwd) && { cwd }) };
  return { url: String(url), headers, type: type === "sse" ? "sse" : "http" };
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

const isPairs = (value: unknown): value is Record<string, string> =>
  typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string");

function readText(path: string): string | null {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    if (["ENOENT", "ENOTDIR"].includes((error as NodeJS.ErrnoException).code ?? "")) return null;
    throw wrong(path, (error as Error).message);
  }
}

function parsed(path: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw wrong(path, (error as Error).message);
  }
}

const wrong = (path: string, why: string): ConfigurationError =>
  new ConfigurationError(`${path} cannot be used: ${why}.`, { code: "invalid_settings", operation: "agent.send" });
