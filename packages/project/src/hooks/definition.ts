// Shared by both dialects: definitions, and problems with them.
import type { HookDefinition } from "@agentcli/protocol";
import type { HookFile } from "../config/hook-files.ts";
import type { Table } from "../config/table.ts";

/** Without the hash of the script that its command runs. */
export type ReadDefinition = HookDefinition;

export interface ReadHooks {
  definitions: ReadDefinition[];
  /** A sentence each, beginning with the file. */
  problems: string[];
}

/** Collects problems while the rest is read. */
export interface ReadContext {
  file: HookFile;
  problems: string[];
}

export const addProblem = ({ file, problems }: ReadContext, problem: string): void =>
  void problems.push(`${file.path}: ${problem}`);

/** The value, or the default if there is none; a value of the wrong type is a problem. */
export function field<T>(
  entry: Table,
  name: string,
  fits: (value: unknown) => value is T,
  usual: T,
): { ok: true; value: T } | { ok: false; name: string } {
  const value = entry[name];
  if (value === undefined) return { ok: true, value: usual };
  return fits(value) ? { ok: true, value } : { ok: false, name };
}

export const isText = (value: unknown): value is string => typeof value === "string";
export const isCommand = (value: unknown): value is string => isText(value) && value.trim() !== "";
export const isSwitch = (value: unknown): value is boolean => typeof value === "boolean";
export const isPositive = (value: unknown): value is number =>
  typeof value === "number" && Number.isFinite(value) && value > 0;

export function isPattern(matcher: string): boolean {
  try {
    new RegExp(matcher, "u");
    return true;
  } catch {
    return false;
  }
}

export const defaultContextTokens = 2_500;
