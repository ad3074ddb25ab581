// What both dialects need to make a definition, and to say what is wrong with one.
import type { HookDefinition } from "@agentcli/protocol";
import type { Table } from "../config/table.ts";
import type { HookFile } from "./find.ts";

/** Not looked at yet: the file its command runs. */
export type Written = HookDefinition;

export interface ReadHooks {
  definitions: Written[];
  /** A sentence each, beginning with the file. */
  problems: string[];
}

/** Collects what is wrong while the rest is read on. */
export interface Reading {
  file: HookFile;
  problems: string[];
}

export const complain = ({ file, problems }: Reading, problem: string): void =>
  void problems.push(`${file.path}: ${problem}`);

/** The value, or the default where there is none; a value of the wrong kind is a problem and no hook. */
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
