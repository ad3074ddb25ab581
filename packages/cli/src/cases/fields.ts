// Reads the members of a case. What is missing, unknown or of another kind is an error that names its line.
import { nearest } from "@agentcli/project/nearest";
import { CaseFileError, type Located } from "./located.ts";

export type Table = Map<string, Located>;

/** A table with no other members than these. */
export function tableOf(value: Located, what: string, names: readonly string[]): Table {
  const table = anyTableOf(value, what);
  for (const [name, { line }] of table) if (!names.includes(name)) throw unknownMember(name, line, { what, names });
  return table;
}

export function anyTableOf(value: Located, what: string): Table {
  if (value.kind !== "table") throw new CaseFileError(value.line, `${what} has to be a table, it is ${kindOf(value)}`);
  return new Map(value.entries.map((entry) => [entry.name, { ...entry.value, line: entry.line }]));
}

function unknownMember(
  name: string,
  line: number,
  { what, names }: { what: string; names: readonly string[] },
): CaseFileError {
  const near = nearest(name, [...names]);
  const hint = near === undefined ? `It can have ${names.join(", ")}` : `Did you mean ${near}?`;
  return new CaseFileError(line, `${what} cannot have "${name}". ${hint}`);
}

export function listOf(value: Located, what: string): Located[] {
  if (value.kind !== "list") throw new CaseFileError(value.line, `${what} has to be a list, it is ${kindOf(value)}`);
  return value.items;
}

/** Several values, or one without a list. */
export const severalOf = (value: Located): Located[] => (value.kind === "list" ? value.items : [value]);

/** `exit: 0` and `text: yes` are texts too where a text is expected. */
export function textOf(value: Located, what: string): string {
  if (value.kind === "value" && value.value !== null) return String(value.value);
  throw new CaseFileError(value.line, `${what} has to be text, it is ${kindOf(value)}`);
}

export function numberOf(value: Located, what: string): number {
  if (value.kind === "value" && typeof value.value === "number" && Number.isFinite(value.value) && value.value >= 0)
    return value.value;
  throw new CaseFileError(value.line, `${what} has to be a number of 0 or more, it is ${kindOf(value)}`);
}

export function choiceOf<Choice extends string>(value: Located, what: string, choices: readonly Choice[]): Choice {
  const text = textOf(value, what);
  const found = choices.find((choice) => choice === text);
  if (found !== undefined) return found;
  throw new CaseFileError(value.line, `${what} cannot be "${text}". Choose from ${choices.join(", ")}`);
}

/** A path below the project. */
export function pathOf(value: Located, what: string): string {
  return checkedPath(textOf(value, what), value.line, what);
}

export function checkedPath(path: string, line: number, what: string): string {
  const isInside = path !== "" && !path.startsWith("/") && !path.includes("\0") && !path.split("/").includes("..");
  if (isInside) return path;
  throw new CaseFileError(line, `${what} has to be a path below the project, without "..": "${path}"`);
}

/** As the file has it, for arguments of a tool. */
export function jsonOf(value: Located): unknown {
  if (value.kind === "list") return value.items.map(jsonOf);
  if (value.kind === "value") return value.value;
  return Object.fromEntries(value.entries.map(({ name, value: member }) => [name, jsonOf(member)]));
}

/** On one line, as an error shows it. */
export function shown(value: Located): string {
  const text = value.kind === "value" ? String(value.value) : (JSON.stringify(jsonOf(value)) ?? "");
  return shortened(text);
}

export const shortened = (text: string, length = 160): string => {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > length ? `${line.slice(0, length)}…` : line;
};

function kindOf(value: Located): string {
  if (value.kind !== "value") return value.kind === "list" ? "a list" : "a table";
  return value.value === null ? "empty" : `"${shortened(String(value.value), 40)}"`;
}
