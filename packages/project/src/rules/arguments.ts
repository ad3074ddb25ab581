// The arguments of a call by name, with typed readers.

import type { Call, Value } from "./parse.ts";
import { RulesError } from "./rules-error.ts";

export interface Arguments {
  /** Null when it is absent or None. */
  find(name: string): Value | null;
  /** For a required argument, which was checked to exist. */
  require(name: string): Value;
}

/** Positional arguments take the names in order. */
export function bindArguments(call: Call, names: string[], required: string[]): Arguments {
  const values = new Map<string, Value>();
  for (const [index, argument] of call.arguments.entries()) {
    const name = argument.name ?? names[index];
    if (name === undefined) throw new RulesError(argument, `${call.name} takes ${names.length} arguments at most`);
    if (!names.includes(name)) {
      throw new RulesError(argument, `${call.name} has no argument ${name}; it has ${names.join(", ")}`);
    }
    if (values.has(name)) throw new RulesError(argument, `duplicate argument "${name}"`);
    if (argument.value.kind !== "none") values.set(name, argument.value);
  }
  const missing = required.find((name) => !values.has(name));
  if (missing !== undefined) throw new RulesError(call, `${call.name}: missing required argument ${missing}`);
  const find = (name: string) => values.get(name) ?? null;
  return { find, require: (name) => find(name) ?? fail(`${call.name} was read without ${name}`) };
}

export function textOf(value: Value, what: string): string {
  if (value.kind !== "string") throw new RulesError(value, `${what} must be a string`);
  if (value.text.trim() === "") throw new RulesError(value, `${what} is empty`);
  return value.text;
}

export function textsOf(value: Value, what: string): string[] {
  if (value.kind !== "list") throw new RulesError(value, `${what} must be a string or a list of strings`);
  return value.items.map((item) => textOf(item, `an element of ${what}`));
}

export function optionalText(values: Arguments, name: string): string | null {
  const value = values.find(name);
  return value && textOf(value, name);
}

/** `fallback` null: it is required. */
export function oneOf<T extends string>(values: Arguments, name: string, choices: T[], fallback: T | null): T {
  const value = fallback === null ? values.require(name) : values.find(name);
  if (value === null) return fallback ?? fail(`${name} has no fallback`);
  const choice = choices.find((candidate) => value.kind === "string" && candidate === value.text);
  if (choice === undefined) throw new RulesError(value, `${name} must be one of ${choices.join(", ")}`);
  return choice;
}

function fail(message: string): never {
  throw new Error(message);
}
