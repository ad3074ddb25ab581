// Writes values into a configuration file: validated first, atomically, preserving comments and order of the rest.
import { createHash } from "node:crypto";
import { ConfigError } from "./config-error.ts";
import { readIfPresent } from "./files.ts";
import type { Inspection } from "./inspect.ts";
import { replaceFile } from "./replace.ts";
import { type Requirements, refusalOf } from "./requirements.ts";
import { dottedKey, isTable, leavesOf, type Table, valueAt } from "./table.ts";
import { editToml, type TomlEdit } from "./toml-edit.ts";
import { pathOfKey } from "./toml-statements.ts";

export interface ConfigEdit {
  /** As it would be written in the file: `limits.idle`. */
  key: string;
  /** JSON; null removes the key. */
  value: unknown;
  /** What happens to keys that the new table does not have. */
  merge: "replace" | "upsert";
}

export interface ConfigWrite {
  path: string;
  edits: ConfigEdit[];
  /** Written only if the file still has this version. */
  expectedVersion: string | undefined;
  requirements: Requirements;
}

export type WriteRefusal = "version-conflict" | "invalid" | "unknown-key" | "not-allowed";

export type WrittenConfig =
  | { kind: "written"; version: string; paths: string[][] }
  | { kind: "refused"; reason: WriteRefusal; message: string };

export async function writeConfig(write: ConfigWrite): Promise<WrittenConfig> {
  const [{ parse, TomlError }, { inspect }] = await Promise.all([import("./toml.ts"), import("./inspect.ts")]);
  const { path, edits, expectedVersion, requirements } = write;
  // Nothing is awaited from here on: the replaced file is the one that was read.
  const before = readIfPresent(path) ?? "";
  if (expectedVersion !== undefined && expectedVersion !== versionOf(before)) return conflict(path, versionOf(before));
  try {
    const steps = edits.flatMap((edit) => stepsOf(edit, parse));
    const text = editToml(before, steps, parse);
    const table = parse(text);
    const paths = steps.map((step) => step.path);
    const refused = refusal(inspect(table, "config"), paths) ?? notAllowed(table, requirements, path);
    if (refused) return refused;
    if (text !== before) replaceFile(path, text);
    return { kind: "written", version: versionOf(text), paths };
  } catch (error) {
    if (error instanceof ConfigError) return { kind: "refused", reason: "invalid", message: error.message };
    if (!(error instanceof TomlError)) throw error;
    const message = `${path} is not valid TOML: ${error.message.trim()}`;
    return { kind: "refused", reason: "invalid", message };
  }
}

/** Depends only on the text; a missing file counts as empty. */
export const versionOf = (text: string): string => `sha256:${createHash("sha256").update(text).digest("hex")}`;

export const fileVersion = (path: string): string => versionOf(readIfPresent(path) ?? "");

function stepsOf({ key, value, merge }: ConfigEdit, parse: (text: string) => Table): TomlEdit[] {
  const path = pathOfKey(key, parse);
  if (path === null)
    throw new ConfigError(`${JSON.stringify(key)} is not a key. Separate parts with dots: limits.idle.`);
  if (value === null) return [{ path, value: undefined }];
  refuseNothing(value, key);
  if (merge === "replace" || !isTable(value)) return [{ path, value }];
  return [...leavesOf(value)].map((leaf) => ({ path: [...path, ...leaf.path], value: leaf.value }));
}

/** TOML has no null. */
function refuseNothing(value: unknown, key: string): void {
  if (value === null || value === undefined) throw new ConfigError(`${key} holds a null, which TOML cannot say.`);
  if (typeof value === "object") for (const inner of Object.values(value)) refuseNothing(inner, key);
}

function conflict(path: string, version: string): WrittenConfig {
  const message = `${path} has changed; its version is ${version} now. Read it again, then write.`;
  return { kind: "refused", reason: "version-conflict", message };
}

/** Unknown keys that the file already had are not reported here: reading it reports them. */
function refusal({ wrong, unknown }: Inspection, paths: string[][]): WrittenConfig | undefined {
  if (wrong.length > 0)
    return { kind: "refused", reason: "invalid", message: `${wrong.map(({ message }) => message).join("; ")}.` };
  const written = unknown.find((one) => paths.some((path) => touches(one.path, path)));
  if (!written) return undefined;
  const hint = written.meant ? ` Did you mean ${written.meant}?` : " agentcli config show lists those there are.";
  return { kind: "refused", reason: "unknown-key", message: `There is no key ${dottedKey(written.path)}.${hint}` };
}

const touches = (one: string[], other: string[]): boolean => {
  const length = Math.min(one.length, other.length);
  return one.slice(0, length).every((key, index) => key === other[index]);
};

function notAllowed(table: Table, requirements: Requirements, path: string): WrittenConfig | undefined {
  for (const { key } of requirements.rules) {
    const value = valueAt(table, key);
    const message = value === undefined ? undefined : refusalOf(requirements, dottedKey(key), value, path);
    if (message) return { kind: "refused", reason: "not-allowed", message };
  }
  return undefined;
}
