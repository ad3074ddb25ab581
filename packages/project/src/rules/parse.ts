// Parses a rules file into calls: a subset of Starlark with constants, strings, lists, tuples and calls, without execution.
import { type Location, RulesError } from "./rules-error.ts";
import { type Token, tokenize } from "./tokens.ts";

export type Value = Location &
  (
    | { kind: "string"; text: string }
    | { kind: "number"; value: number }
    | { kind: "list"; items: Value[] }
    | { kind: "none" }
    | { kind: "boolean"; value: boolean }
  );

export interface Argument extends Location {
  /** Null for a positional argument. */
  name: string | null;
  value: Value;
}

export interface Call extends Location {
  name: string;
  arguments: Argument[];
}

export function parseRules(text: string): Call[] {
  const reader: Reader = { tokens: tokenize(text), at: 0, constants: new Map(), depth: 0 };
  const calls: Call[] = [];
  for (;;) {
    const token = take(reader);
    if (token.kind === "end") return calls;
    if (token.kind === "line-end" || isSign(token, ";")) continue;
    const isDocumentation = token.kind === "string";
    if (!isDocumentation) calls.push(...readStatement(token, reader));
    endStatement(reader);
  }
}

interface Reader {
  tokens: Token[];
  at: number;
  constants: Map<string, Value>;
  depth: number;
}

const maxDepth = 50;
const maxLength = 100_000;

/** A name at the start of a statement is a constant, a rule, or unsupported. */
function readStatement(token: Token, reader: Reader): Call[] {
  if (token.kind !== "name") throw unexpected(token, "a rule such as prefix_rule(…)");
  const hint = unsupported.get(token.text);
  if (hint) throw new RulesError(token, `${token.text} is not supported in rules files; ${hint}`);
  if (accept(reader, "(")) return [{ ...locationOf(token), name: token.text, arguments: readArguments(reader) }];
  expect(reader, "=", `( or = after ${token.text}`);
  if (reader.constants.has(token.text)) throw new RulesError(token, `${token.text} already has a value`);
  reader.constants.set(token.text, readExpression(reader));
  return [];
}

const writeOut = "write the rules out one by one";
const unsupported = new Map([
  ...["class", "def", "for", "if", "import", "lambda", "return", "while"].map((word) => [word, writeOut] as const),
  ["load", "put what is needed into this file"],
  ["pass", "leave it out"],
]);

function readArguments(reader: Reader): Argument[] {
  const found: Argument[] = [];
  while (!accept(reader, ")")) {
    const [token, after] = [peek(reader), reader.tokens[reader.at + 1]];
    const name = token.kind === "name" && after && isSign(after, "=") ? token.text : null;
    if (name !== null) reader.at += 2;
    else if (found.some((argument) => argument.name !== null)) {
      throw new RulesError(token, "an argument without a name cannot follow one with a name");
    }
    if (name !== null && found.some((argument) => argument.name === name)) {
      throw new RulesError(token, `duplicate argument "${name}"`);
    }
    found.push({ ...locationOf(token), name, value: readExpression(reader) });
    if (!accept(reader, ",") && !isSign(peek(reader), ")")) throw unexpected(peek(reader), ", or )");
  }
  return found;
}

/** Values may be joined with +: strings with strings, lists with lists. */
function readExpression(reader: Reader): Value {
  if (++reader.depth > maxDepth) throw new RulesError(peek(reader), "lists are nested too deeply");
  let value = readValue(reader);
  while (accept(reader, "+")) value = join(value, readValue(reader));
  reader.depth--;
  return value;
}

function join(left: Value, right: Value): Value {
  if (left.kind === "string" && right.kind === "string")
    return { ...left, text: bounded(left.text + right.text, left) };
  if (left.kind === "list" && right.kind === "list") {
    return { ...left, items: bounded([...left.items, ...right.items], left) };
  }
  throw new RulesError(right, "+ joins two strings or two lists");
}

/** Constants built from constants could double in size with every line. */
function bounded<T extends { length: number }>(value: T, location: Location): T {
  if (value.length > maxLength) throw new RulesError(location, `the value exceeds ${maxLength} characters or items`);
  return value;
}

function readValue(reader: Reader): Value {
  const token = take(reader);
  const location = locationOf(token);
  if (token.kind === "string") {
    return {
      ...location,
      kind: "string",
      text: token.isFormat ? bounded(fillIn(token, token.text, reader), token) : token.text,
    };
  }
  if (token.kind === "number") return { ...location, kind: "number", value: token.value };
  if (token.kind === "name") return readName(token, token.text, reader);
  if (isSign(token, "[")) return { ...location, kind: "list", items: readItems(reader, "]").items };
  if (isSign(token, "(")) return readTuple(location, reader);
  throw unexpected(token, "a string, a list, a number, True, False, None or a constant");
}

function readName(location: Location, name: string, reader: Reader): Value {
  if (name === "True" || name === "False") return { ...locationOf(location), kind: "boolean", value: name === "True" };
  if (name === "None") return { ...locationOf(location), kind: "none" };
  const constant = reader.constants.get(name);
  if (constant) return { ...constant, ...locationOf(location) };
  throw new RulesError(location, `${name} is not defined; text needs quotation marks`);
}

/** Parentheses around one value without a comma only group it. */
function readTuple(location: Location, reader: Reader): Value {
  const { items, commas } = readItems(reader, ")");
  const [only] = items;
  return only && commas === 0 ? only : { ...location, kind: "list", items };
}

function readItems(reader: Reader, close: string): { items: Value[]; commas: number } {
  const items: Value[] = [];
  let commas = 0;
  while (!accept(reader, close)) {
    items.push(readExpression(reader));
    const token = peek(reader);
    if (token.kind === "name" && token.text === "for") {
      throw new RulesError(token, `comprehensions are not supported in rules files; ${writeOut}`);
    }
    if (accept(reader, ",")) commas++;
    else if (!isSign(token, close)) throw unexpected(token, `, or ${close}`);
  }
  return { items, commas };
}

/** `f"{name}"`; a doubled brace is a brace. */
const fillIn = (location: Location, text: string, reader: Reader): string =>
  text.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (found, name: string | undefined) => {
    if (found === "{{" || found === "}}") return found.slice(1);
    if (name === undefined) throw new RulesError(location, `a lone ${found} in a format string; double it`);
    const value = reader.constants.get(name.trim());
    if (value?.kind !== "string") throw new RulesError(location, `{${name}} is not a constant string of this file`);
    return value.text;
  });

function endStatement(reader: Reader): void {
  const token = peek(reader);
  if (token.kind !== "end" && token.kind !== "line-end" && !isSign(token, ";")) {
    throw unexpected(token, "the end of the line");
  }
}

function take(reader: Reader): Token {
  const token = peek(reader);
  if (token.kind !== "end") reader.at++;
  return token;
}

function peek({ tokens, at }: Reader): Token {
  const token = tokens[at];
  if (!token) throw new Error("the tokens of a rules file do not end");
  return token;
}

function accept(reader: Reader, sign: string): boolean {
  const found = isSign(peek(reader), sign);
  if (found) reader.at++;
  return found;
}

function expect(reader: Reader, sign: string, wanted: string): void {
  if (!accept(reader, sign)) throw unexpected(peek(reader), wanted);
}

const isSign = (token: Token, sign: string): boolean => token.kind === "sign" && token.text === sign;
const locationOf = ({ line, column }: Location): Location => ({ line, column });

function unexpected(token: Token, wanted: string): RulesError {
  return new RulesError(token, `expected ${wanted}, found ${describe(token)}`);
}

function describe(token: Token): string {
  switch (token.kind) {
    case "name":
    case "sign":
      return token.text;
    case "string":
      return `the string ${JSON.stringify(token.text)}`;
    case "number":
      return String(token.value);
    case "line-end":
      return "the end of the line";
    case "end":
      return "the end of the file";
  }
}
