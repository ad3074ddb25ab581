// Records that a project is trusted. Every other byte of the configuration file is preserved.

import { ConfigError } from "./config-error.ts";
import { readIfPresent, readTable } from "./files.ts";
import { isSameConfig, replaceFile } from "./replace.ts";
import { quoted, type Table, valueAt, withValueAt } from "./table.ts";

export async function trustProject(configFile: string, root: string): Promise<void> {
  const key = ["projects", root, "trust_level"];
  const before = (await readTable(configFile)) ?? {};
  if (valueAt(before, key) === "trusted") return;
  const text = withTrust(readIfPresent(configFile) ?? "", root);
  const { parse } = await import("./toml.ts");
  if (!isSameConfig(parsed(text, parse), withValueAt(before, key, "trusted"))) throw byHand(configFile, root);
  replaceFile(configFile, text);
}

/** The project's own table if there is one, else a new table at the end. */
function withTrust(text: string, root: string): string {
  const newline = text.includes("\r\n") ? "\r\n" : "\n";
  const lines = text.split(newline);
  const header = lines.findIndex((line) => projectOf(line) === root);
  if (header === -1) {
    const gap = text === "" ? "" : text.endsWith(newline) ? newline : newline + newline;
    return `${text}${gap}[projects.${quoted(root)}]${newline}trust_level = "trusted"${newline}`;
  }
  const after = lines.findIndex((line, index) => index > header && /^\s*\[/.test(line));
  const end = after === -1 ? lines.length : after;
  const level = lines.findIndex((line, index) => index > header && index < end && /^\s*trust_level\s*=/.test(line));
  if (level === -1) lines.splice(header + 1, 0, 'trust_level = "trusted"');
  else lines[level] = (lines[level] ?? "").replace(/=\s*(?:"[^"]*"|'[^']*')/, '= "trusted"');
  return lines.join(newline);
}

function projectOf(line: string): string | undefined {
  const [, quoted, literal] =
    /^\s*\[\s*projects\s*\.\s*(?:("(?:[^"\\]|\\.)*")|'([^']*)')\s*\]\s*(?:#.*)?$/.exec(line) ?? [];
  if (quoted === undefined) return literal;
  try {
    return JSON.parse(quoted);
  } catch {
    return undefined;
  }
}

/** Undefined if the result is not TOML, because the file has an unusual layout. */
function parsed(text: string, parse: (text: string) => Table): Table {
  try {
    return parse(text);
  } catch {
    return {};
  }
}

function byHand(configFile: string, root: string): ConfigError {
  const lines = `[projects.${quoted(root)}]\ntrust_level = "trusted"`;
  return new ConfigError(
    `${configFile} writes its projects in a form that is not edited here. Put this in by hand:\n${lines}`,
  );
}
