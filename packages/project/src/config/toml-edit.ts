// Changes values of a TOML text and preserves comments, order and layout of the rest. Pure.
import { isDeepStrictEqual } from "node:util";
import { ConfigError } from "./config-error.ts";
import type { ParseToml } from "./overrides.ts";
import { dottedKey, isTable, leavesOf, type Table, valueAt, withoutValueAt, withValueAt } from "./table.ts";
import { type Header, type Pair, type Statement, statementsOf } from "./toml-statements.ts";
import { tomlValue } from "./toml-value.ts";

export interface TomlEdit {
  path: string[];
  /** Undefined removes it. */
  value: unknown;
}

/** Fails if the value cannot be written without changing something else. */
export function editToml(text: string, edits: TomlEdit[], parse: ParseToml): string {
  return edits.reduce((now, edit) => {
    const { path, value } = edit;
    const before = parse(now);
    refuseInsideLists(before, path);
    const expected = value === undefined ? withoutValueAt(before, path) : withValueAt(before, path, value);
    if (means(before, expected)) return now;
    const edited = withEdit(now, edit, parse);
    if (means(parsed(edited, parse), expected)) return edited;
    throw new ConfigError(`${dottedKey(path)} is written in a form that is not edited here. Change it by hand.`);
  }, text);
}

function refuseInsideLists(table: Table, path: string[]): void {
  const list = path.findIndex((_, length) => Array.isArray(valueAt(table, path.slice(0, length))));
  if (list === -1) return;
  throw new ConfigError(`${dottedKey(path.slice(0, list))} is a list. Write the whole list.`);
}

function withEdit(text: string, { path, value }: TomlEdit, parse: ParseToml): string {
  const statements = statementsOf(text, parse);
  const enclosing = statements.filter(isPair).find((pair) => isWithin(path, pair.path));
  if (enclosing && enclosing.path.length < path.length) return insideInline(text, enclosing, { path, value }, parse);
  if (enclosing && value !== undefined) return spliced(text, enclosing.valueFrom, enclosing.valueTo, tomlValue(value));
  const cleared = without(text, statements, path);
  if (value === undefined) return cleared;
  if (!isTable(value) || Object.keys(value).length === 0) return inserted(cleared, path, value, parse);
  const leaves = [...leavesOf(value)].map((leaf) => ({ path: [...path, ...leaf.path], value: leaf.value }));
  return leaves.reduce((now, leaf) => withEdit(now, leaf, parse), cleared);
}

/** Within `key = { … }`, which is rewritten. */
function insideInline(text: string, enclosing: Pair, { path, value }: TomlEdit, parse: ParseToml): string {
  const now = valueAt(parse(text), enclosing.path);
  const table = isTable(now) ? now : {};
  const inner = path.slice(enclosing.path.length);
  const changed = value === undefined ? withoutValueAt(table, inner) : withValueAt(table, inner, value);
  return spliced(text, enclosing.valueFrom, enclosing.valueTo, tomlValue(changed));
}

/** A table is removed with its inner comments; those before it and after its last pair stay. */
function without(text: string, statements: Statement[], path: string[]): string {
  const spans: { from: number; to: number }[] = [];
  statements.forEach((statement, index) => {
    if (!isWithin(statement.path, path)) return;
    const before = statements[index - 1];
    const last = spans.at(-1);
    const goesOn = statement.kind === "pair" && before !== undefined && last?.to === before.to;
    if (goesOn) last.to = statement.to;
    else spans.push({ from: statement.from, to: statement.to });
  });
  return spans.reduceRight((now, { from, to }) => spliced(now, from, seam(now, from, to), ""), text);
}

/** Where a removal leaves two empty lines, one is removed too. */
function seam(text: string, from: number, to: number): number {
  const isGap = from === 0 || /\n\r?\n$/.test(text.slice(Math.max(0, from - 3), from));
  const [blank = ""] = isGap ? (/^\r?\n/.exec(text.slice(to, to + 2)) ?? []) : [];
  return to + blank.length;
}

function inserted(text: string, path: string[], value: unknown, parse: ParseToml): string {
  const statements = statementsOf(text, parse);
  const table = path.slice(0, -1);
  const header = statements.findLast((one): one is Header => one.kind === "table" && isSame(one.path, table));
  const key = path.slice(table.length);
  if (header) return insertBehind(text, lastOf(statements, header), pairText(key, value));
  if (table.length === 0) return insertAtTop(text, statements, pairText(key, value));
  const sibling = statements.filter(isPair).findLast((pair) => isDottedInto(pair, table));
  if (sibling) return insertBehind(text, sibling, pairText(path.slice(sibling.table.length), value));
  const gap = text === "" || /\n\r?\n$/.test(text) ? "" : text.endsWith("\n") ? "\n" : "\n\n";
  return `${text}${inStyle(text, `${gap}[${dottedKey(table)}]\n${pairText(key, value)}\n`)}`;
}

/** `a.b = 1` under no `[a]`: then a further key of `a` has to be written the same way. */
const isDottedInto = ({ path, table: host }: Pair, table: string[]): boolean =>
  isWithin(path, table) && isWithin(table, host) && host.length < table.length;

/** The last statement under a header. */
function lastOf(statements: Statement[], header: Header): Statement {
  const behind = statements.slice(statements.indexOf(header) + 1);
  const next = behind.findIndex((one) => one.kind !== "pair");
  return (next === -1 ? behind : behind.slice(0, next)).at(-1) ?? header;
}

/** Before the first table, and before the comment that belongs to it. */
function insertAtTop(text: string, statements: Statement[], pair: string): string {
  const first = statements.findIndex((one) => one.kind !== "pair");
  const last = (first === -1 ? statements : statements.slice(0, first)).at(-1);
  if (last) return insertBehind(text, last, pair);
  const header = statements[first];
  if (!header) return `${text}${inStyle(text, `${text === "" || text.endsWith("\n") ? "" : "\n"}${pair}\n`)}`;
  const [comment = ""] = /(?:(?<=^|\n)[ \t]*#[^\n]*\n)+$/.exec(text.slice(0, header.from)) ?? [];
  const at = header.from - comment.length;
  return spliced(text, at, at, inStyle(text, `${pair}\n\n`));
}

const insertBehind = (text: string, { to }: Statement, pair: string): string =>
  spliced(text, to, to, inStyle(text, text.slice(0, to).endsWith("\n") ? `${pair}\n` : `\n${pair}\n`));

const pairText = (key: string[], value: unknown): string => `${dottedKey(key)} = ${tomlValue(value)}`;

const inStyle = (text: string, lines: string): string =>
  text.includes("\r\n") ? lines.replaceAll("\n", "\r\n") : lines;

const spliced = (text: string, from: number, to: number, middle: string): string =>
  `${text.slice(0, from)}${middle}${text.slice(to)}`;

const isPair = (statement: Statement): statement is Pair => statement.kind === "pair";
const isWithin = (path: string[], outer: string[]): boolean => outer.every((key, index) => path[index] === key);
const isSame = (one: string[], other: string[]): boolean => one.length === other.length && isWithin(one, other);

/** Empty tables have no meaning. */
function means(left: Table, right: Table): boolean {
  const leafValues = (table: Table) => [...leavesOf(table)].filter(({ value }) => !isTable(value));
  const byKey = (table: Table) => new Map(leafValues(table).map(({ path, value }) => [dottedKey(path), plain(value)]));
  return isDeepStrictEqual(byKey(left), byKey(right));
}

/** Tables of the parser have no prototype, others do. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return isTable(value) ? new Map(Object.entries(value).map(([key, inner]) => [key, plain(inner)])) : value;
}

/** Undefined if the result is not TOML, because the file has an unusual layout. */
function parsed(text: string, parse: ParseToml): Table {
  try {
    return parse(text);
  } catch {
    return {};
  }
}
