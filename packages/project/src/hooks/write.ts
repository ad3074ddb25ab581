// Writes trust in hooks into the user's configuration. Every other byte of the file stays as it is.
import type { HookDefinition } from "@agentcli/protocol";
import { ConfigError } from "../config/config-error.ts";
import { readIfPresent, readTable } from "../config/files.ts";
import type { HookState } from "../config/hook-files.ts";
import { isSameConfig, replaceFile } from "../config/replace.ts";
import { quoted, type Table, valueAt, withoutValueAt, withValueAt } from "../config/table.ts";
import { hashOfFiles } from "./trust.ts";

export async function trustHooks(configFile: string, definitions: HookDefinition[]): Promise<void> {
  const entries = definitions.map((definition) => ({ key: definition.key, state: stateOf(definition) }));
  const lines = (state: object) => Object.entries(state).map(([name, value]) => `${name} = ${tomlValue(value)}`);
  const blocks = entries.map(({ key, state }) => [`[hooks.state.${quoted(key)}]`, ...lines(state), ""]);
  const expected = (table: Table) =>
    entries.reduce((result, { key, state }) => withValueAt(result, ["hooks", "state", key], state), table);
  const keys = entries.map(({ key }) => key);
  await edit(configFile, keys, { blocks: blocks.map((block) => block.join("\n")), expected });
}

const stateOf = ({ hash, script, files, unpinned }: HookDefinition): HookState => ({
  trusted_hash: hash,
  ...(script && { script_hash: script.hash }),
  ...(files?.length && { files_hash: hashOfFiles(files) }),
  ...(unpinned !== undefined && { unpinned: true }),
});

const tomlValue = (value: string | boolean): string => (typeof value === "string" ? quoted(value) : String(value));

export async function untrustHooks(configFile: string, keys: string[]): Promise<void> {
  await edit(configFile, keys, { blocks: [], expected: (table) => table });
}

interface Edit {
  blocks: string[];
  /** The expected content of the file, given its content without the old entries. */
  expected(table: Table): Table;
}

async function edit(configFile: string, keys: string[], { blocks, expected }: Edit): Promise<void> {
  const before = (await readTable(configFile)) ?? {};
  const without = keys.reduce((table, key) => withoutValueAt(table, ["hooks", "state", key]), before);
  const kept = withoutBlocks(readIfPresent(configFile) ?? "", keys);
  const gap = kept === "" || kept.endsWith("\n\n") ? "" : kept.endsWith("\n") ? "\n" : "\n\n";
  const text = blocks.length > 0 ? `${kept}${gap}${blocks.join("\n")}` : kept;
  const { parse } = await import("../config/toml.ts");
  if (!isSameConfig(withoutEmptyState(parsed(text, parse)), withoutEmptyState(expected(without)))) {
    throw new ConfigError(
      `${configFile} writes hooks.state in a form that is not edited here. Edit it by hand:\n${text}`,
    );
  }
  replaceFile(configFile, text);
}

/** Removes the tables of these keys, from their header to the next. */
function withoutBlocks(text: string, keys: string[]): string {
  const lines = text.split("\n");
  let isOld = false;
  const kept = lines.filter((line) => {
    if (/^\s*\[/.test(line)) isOld = keys.includes(keyOf(line) ?? "");
    return !isOld;
  });
  return kept.join("\n");
}

function keyOf(line: string): string | undefined {
  const [, text, literal] =
    /^\s*\[\s*hooks\s*\.\s*state\s*\.\s*(?:("(?:[^"\\]|\\.)*")|'([^']*)')\s*\]\s*(?:#.*)?$/.exec(line) ?? [];
  if (text === undefined) return literal;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Empty tables have no meaning. */
function withoutEmptyState(table: Table): Table {
  const isEmpty = (path: string[]) =>
    Object.keys((valueAt(table, path) as object | undefined) ?? { a: 1 }).length === 0;
  const trimmed = isEmpty(["hooks", "state"]) ? withoutValueAt(table, ["hooks", "state"]) : table;
  return Object.keys((trimmed.hooks as object | undefined) ?? { a: 1 }).length === 0
    ? withoutValueAt(trimmed, ["hooks"])
    : trimmed;
}

function parsed(text: string, parse: (text: string) => Table): Table {
  try {
    return parse(text);
  } catch {
    return {};
  }
}
