// Claude Code: CLAUDE.md, MCP servers of the user, and permissions for commands as rules.
import { join } from "node:path";
import { isObject, type Json } from "./conversation.ts";
import { openReader, readInstructions } from "./files.ts";
import type { Proposal, Skipped } from "./proposal.ts";

export function proposeFromClaude(userHome: string): Proposal {
  const skipped: Skipped[] = [];
  const readFile = openReader(skipped);
  const instructions = readInstructions(readFile, join(userHome, ".claude", "CLAUDE.md"));
  const servers = readFile(
    join(userHome, ".claude.json"),
    (text) => readServers(JSON.parse(text), join(userHome, ".claude.json"), skipped),
    {},
  );
  const settingsPath = join(userHome, ".claude", "settings.json");
  const rules = readFile(settingsPath, (text) => readSettings(JSON.parse(text), settingsPath, skipped), []);
  const settings = Object.keys(servers).length > 0 ? { mcp_servers: servers } : {};
  return { tool: "Claude Code", settings, instructions, rules, skipped };
}

function readServers(json: unknown, path: string, skipped: Skipped[]): Json {
  const declared = isObject(json) && isObject(json.mcpServers) ? json.mcpServers : {};
  const read = Object.entries(declared).flatMap(([name, server]): [string, Json][] => {
    const what = `${path}: mcpServers.${name}`;
    const leave = (reason: string) => {
      skipped.push({ what, reason });
      return [];
    };
    if (!isObject(server)) return leave("it is not an object");
    if (!/^[A-Za-z0-9_-]+$/.test(name)) return leave("its name has characters other than letters, digits, - and _");
    if (server.type === "sse") return leave("agentcli speaks to servers over standard input or streamable HTTP only");
    const { command, args, env, url, headers } = server;
    if (args !== undefined && !isList(args)) return leave("its args are not texts");
    if (typeof command === "string")
      return [[name, { command, ...(isList(args) && { args }), ...(isTexts(env) && { env }) }]];
    if (typeof url === "string") return [[name, { url, ...(isTexts(headers) && { http_headers: headers }) }]];
    return leave("it has neither a command nor a url");
  });
  return Object.fromEntries(read);
}

const isList = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === "string");

const isTexts = (value: unknown): value is Record<string, string> =>
  isObject(value) && Object.keys(value).length > 0 && Object.values(value).every((each) => typeof each === "string");

function readSettings(json: unknown, path: string, skipped: Skipped[]): string[] {
  if (!isObject(json)) return [];
  for (const key of Object.keys(json).filter((each) => each !== "permissions" && each !== "$schema"))
    skipped.push({ what: `${path}: ${key}`, reason: reasonsOfSettings.get(key) ?? "agentcli has no such setting" });
  const permissions = isObject(json.permissions) ? json.permissions : {};
  const decisions = [
    ["deny", "forbidden"],
    ["ask", "prompt"],
    ["allow", "allow"],
  ] as const;
  return decisions.flatMap(([name, decision]) => {
    const entries = Array.isArray(permissions[name]) ? (permissions[name] as unknown[]) : [];
    return entries.flatMap((entry) => {
      const words = typeof entry === "string" ? commandWords(entry, decision) : null;
      if (words !== null) return [ruleLine(words, decision, path)];
      skipped.push({
        what: `${path}: permissions.${name}: ${String(entry)}`,
        reason: "it has no equal among rules for commands",
      });
      return [];
    });
  });
}

const reasonsOfSettings = new Map([
  ["hooks", "hooks run on your machine: copy those you want to hooks.json, then run agentcli hooks trust"],
  ["env", "variables of commands are set under shell_environment_policy.set"],
  ["model", "choose one that agentcli models lists"],
]);

/** `Bash(npm test:*)` is a rule for a prefix. An exact command is not: a rule that allows it would allow more. */
function commandWords(entry: string, decision: string): string[] | null {
  const [, text = "", wildcard] = /^Bash\(([^()]*?)(:\*|\s\*)?\)$/.exec(entry) ?? [];
  if (wildcard === undefined && decision === "allow") return null;
  const words = text.trim().split(/\s+/);
  return words.every((word) => /^[\w./:@=+,-]+$/.test(word)) ? words : null;
}

const ruleLine = (words: string[], decision: string, path: string): string =>
  `prefix_rule(pattern = ${JSON.stringify(words)}, decision = "${decision}", justification = ${JSON.stringify(`imported from ${path}`)})`;
