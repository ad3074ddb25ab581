// The arguments of a call by name, and readers that say what is wrong with them.
import { RulesFault } from "./fault.ts";
import type { Call, Value } from "./parse.ts";

export interface Arguments {
  /** Null when it is not given, or given as None. */
  find(name: string): Value | null;
  /** Of an argument that is required, and was checked to be there. */
  require(name: string): Value;
}

/** Positional arguments take the names in order. */
export function bindArguments(call: Call, names: string[], required: string[]): Arguments {
  const given = new Map<string, Value>();
  for (const [index, argument] of call.arguments.entries()) {
    const name = argument.name ?? names[index];
    if (name === undefined) throw new RulesFault(argument, `${call.name} takes ${names.length} arguments at most`);
    if (!names.includes(name)) {
      throw new RulesFault(argument, `${call.name} has no argument ${name}; it has ${names.join(", ")}`);
    }
    if (given.has(name)) throw new RulesFault(argument, `${name} is given twice`);
    if (argument.value.kind !== "none") given.set(name, argument.value);
  }
  const missing = required.find((name) => !given.has(name));
  if (missing !== undefined) throw new RulesFault(call, `${call.name} needs ${missing}`);
  const find = (name: string) => given.get(name) ?? null;
  return { find, require: (name) => find(name) ?? fail(`${call.name} was read without ${name}`) };
}

export function textOf(value: Value, what: string): string {
  if (value.kind !== "string") throw new RulesFault(value, `${what} must be a string`);
  if (value.text.trim() === "") throw new RulesFault(value, `${what} is empty`);
  return value.text;
}

export function textsOf(value: Value, what: string): string[] {
  if (value.kind !== "list") throw new RulesFault(value, `${what} must be a string or a list of strings`);
  return value.items.map((item) => textOf(item, `an element of ${what}`));
}

export function optionalText(given: Arguments, name: string): string | null {
  const value = given.find(name);
  return value && textOf(value, name);
}

/** `fallback` null: it is required. */
export function oneOf<T extends string>(given: Arguments, name: string, choices: T[], fallback: T | null): T {
  const value = fallback === null ? given.require(name) : given.find(name);
  if (value === null) return fallback ?? fail(`${name} has no fallback`);
  const choice = choices.find((candidate) => value.kind === "string" && candidate === value.text);
  if (choice === undefined) throw new RulesFault(value, `${name} must be one of ${choices.join(", ")}`);
  return choice;
}

function fail(message: string): never {
  throw new Error(message);
}
