// Adds a server to config.toml and takes one out, leaving every other line of the file as it is.
import { readFileSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { loadToml } from "@agentcli/project";
import type { McpServer } from "@agentcli/protocol";
import { replaceFile } from "./credentials.ts";

type Table = { [key: string]: unknown };

/** Adds the server at the end of the file, replacing one of the same name. */
export async function addServer(agentHome: string, name: string, server: McpServer): Promise<void> {
  const file = openFile(agentHome);
  const rest = withoutServer(file.text, name);
  const text = `${rest.trimEnd()}${rest.trim() === "" ? "" : "\n\n"}${serverBlock(name, server)}`;
  await write(file, text, { name, wanted: server });
}

/** Returns whether there was one. */
export async function removeServer(agentHome: string, name: string): Promise<boolean> {
  const file = openFile(agentHome);
  const { parse } = await loadToml();
  const servers = parse(file.text).mcp_servers as Table | undefined;
  if (servers?.[name] === undefined) return false;
  await write(file, withoutServer(file.text, name), { name, wanted: undefined });
  return true;
}

/** Cuts out `[mcp_servers.NAME]` and the tables below it, each up to the next table. Pure. */
export function withoutServer(text: string, name: string): string {
  let isCut = false;
  const kept = text.split("\n").filter((line) => {
    const header = /^\s*\[\[?([^\]]*)\]/.exec(line)?.[1];
    if (header !== undefined) isCut = isOf(header, name);
    return !isCut;
  });
  return kept.join("\n");
}

/** Whether a table header names this server or something below it, however its parts are quoted and spaced. */
function isOf(header: string, name: string): boolean {
  const parts = [...header.matchAll(/\s*(?:"([^"]*)"|'([^']*)'|([^.\s]+))\s*(?:\.|$)/g)];
  const [first, second] = parts.map(([, double, single, bare]) => double ?? single ?? bare);
  return first === "mcp_servers" && second === name;
}

function serverBlock(name: string, { env, ...server }: McpServer): string {
  const lines = [`[mcp_servers.${name}]`, ...fields(server)];
  if (env && Object.keys(env).length > 0) lines.push("", `[mcp_servers.${name}.env]`, ...fields(env));
  return `${lines.join("\n")}\n`;
}

const fields = (table: Table): string[] =>
  Object.entries(table).flatMap(([key, value]) => (value === undefined ? [] : [`${keyOf(key)} = ${tomlOf(value)}`]));

const keyOf = (key: string): string => (/^[A-Za-z0-9_-]+$/.test(key) ? key : tomlOf(key));

function tomlOf(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlOf).join(", ")}]`;
  if (typeof value === "object" && value !== null) return `{ ${fields(value as Table).join(", ")} }`;
  // JSON escapes what TOML wants escaped, but for one character.
  return JSON.stringify(value).replaceAll("\u007f", "\\u007F");
}

interface ConfigFile {
  path: string;
  text: string;
  mode: number;
}

/** A link stays a link: the file it leads to is what is replaced. */
function openFile(agentHome: string): ConfigFile {
  const path = join(agentHome, "config.toml");
  try {
    const real = realpathSync(path);
    return { path: real, text: readFileSync(real, "utf8"), mode: statSync(real).mode & 0o777 };
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return { path, text: "", mode: 0o600 };
    throw new CommandError("usage", `${path} cannot be read: ${(error as Error).message}.`);
  }
}

/** Written only if everything but this server still parses to the same values. */
async function write(file: ConfigFile, text: string, { name, wanted }: { name: string; wanted?: McpServer }) {
  const { parse } = await loadToml();
  const before = parse(file.text) as Table;
  const { [name]: _, ...others } = (before.mcp_servers ?? {}) as Table;
  const expected = { ...before, mcp_servers: { ...others, ...(wanted && { [name]: wanted }) } };
  if (normal(parse(text)) !== normal(expected)) {
    throw new CommandError(
      "usage",
      `${file.path} writes mcp_servers in a way that cannot be edited by machine. Edit mcp_servers.${name} by hand.`,
    );
  }
  replaceFile(file.path, text, file.mode);
}

/** The same text for tables that mean the same: order does not count, nor do empty tables and missing values. */
function normal(value: unknown): string {
  return JSON.stringify(value, (_key, inner) => {
    if (typeof inner !== "object" || inner === null || Array.isArray(inner)) return inner;
    const entries = Object.entries(inner).filter(([, item]) => item !== undefined && !isEmptyTable(item));
    return Object.fromEntries(entries.sort(([left], [right]) => (left < right ? -1 : 1)));
  });
}

const isEmptyTable = (value: unknown): boolean =>
  typeof value === "object" && value !== null && !Array.isArray(value) && Object.keys(value).length === 0;
