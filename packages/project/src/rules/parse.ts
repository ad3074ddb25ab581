// A rules file as the calls it makes: a subset of Starlark with constants, strings, lists, tuples and calls, nothing that runs.
import { type Place, RulesFault } from "./fault.ts";
import { type Token, tokenize } from "./tokens.ts";

export type Value = Place &
  (
    | { kind: "string"; text: string }
    | { kind: "number"; value: number }
    | { kind: "list"; items: Value[] }
    | { kind: "none" }
    | { kind: "boolean"; value: boolean }
  );

export interface Argument extends Place {
  /** Null for a positional argument. */
  name: string | null;
  value: Value;
}

export interface Call extends Place {
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

const mostDepth = 50;

/** A name that begins a statement is a constant, a rule, or something we do not have. */
function readStatement(token: Token, reader: Reader): Call[] {
  if (token.kind !== "name") throw unexpected(token, "a rule such as prefix_rule(…)");
  const hint = unsupported.get(token.text);
  if (hint) throw new RulesFault(token, `${token.text} is not supported in rules files; ${hint}`);
  if (accept(reader, "(")) return [{ ...placeOf(token), name: token.text, arguments: readArguments(reader) }];
  expect(reader, "=", `( or = after ${token.text}`);
  if (reader.constants.has(token.text)) throw new RulesFault(token, `${token.text} already has a value`);
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
      throw new RulesFault(token, "an argument without a name cannot follow one with a name");
    }
    if (name !== null && found.some((argument) => argument.name === name)) {
      throw new RulesFault(token, `${name} is given twice`);
    }
    found.push({ ...placeOf(token), name, value: readExpression(reader) });
    if (!accept(reader, ",") && !isSign(peek(reader), ")")) throw unexpected(peek(reader), ", or )");
  }
  return found;
}

/** Values may be joined with +: strings with strings, lists with lists. */
function readExpression(reader: Reader): Value {
  if (++reader.depth > mostDepth) throw new RulesFault(peek(reader), "lists are nested too deeply");
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
  throw new RulesFault(right, "+ joins two strings or two lists");
}

/** Constants made of constants could double in size with every line. */
function bounded<T extends { length: number }>(value: T, place: Place): T {
  if (value.length > 100_000) throw new RulesFault(place, "the value is too long");
  return value;
}

function readValue(reader: Reader): Value {
  const token = take(reader);
  const place = placeOf(token);
  if (token.kind === "string") {
    return {
      ...place,
      kind: "string",
      text: token.isFormat ? bounded(fillIn(token, token.text, reader), token) : token.text,
    };
  }
  if (token.kind === "number") return { ...place, kind: "number", value: token.value };
  if (token.kind === "name") return readName(token, token.text, reader);
  if (isSign(token, "[")) return { ...place, kind: "list", items: readItems(reader, "]").items };
  if (isSign(token, "(")) return readTuple(place, reader);
  throw unexpected(token, "a string, a list, a number, True, False, None or a constant");
}

function readName(place: Place, name: string, reader: Reader): Value {
  if (name === "True" || name === "False") return { ...placeOf(place), kind: "boolean", value: name === "True" };
  if (name === "None") return { ...placeOf(place), kind: "none" };
  const constant = reader.constants.get(name);
  if (constant) return { ...constant, ...placeOf(place) };
  throw new RulesFault(place, `${name} is not defined; text needs quotation marks`);
}

/** Brackets around one value without a comma only group it. */
function readTuple(place: Place, reader: Reader): Value {
  const { items, commas } = readItems(reader, ")");
  const [only] = items;
  return only && commas === 0 ? only : { ...place, kind: "list", items };
}

function readItems(reader: Reader, close: string): { items: Value[]; commas: number } {
  const items: Value[] = [];
  let commas = 0;
  while (!accept(reader, close)) {
    items.push(readExpression(reader));
    const token = peek(reader);
    if (token.kind === "name" && token.text === "for") {
      throw new RulesFault(token, `comprehensions are not supported in rules files; ${writeOut}`);
    }
    if (accept(reader, ",")) commas++;
    else if (!isSign(token, close)) throw unexpected(token, `, or ${close}`);
  }
  return { items, commas };
}

/** `f"{name}"`; a doubled brace is a brace. */
const fillIn = (place: Place, text: string, reader: Reader): string =>
  text.replace(/\{\{|\}\}|\{([^{}]*)\}|[{}]/g, (found, name: string | undefined) => {
    if (found === "{{" || found === "}}") return found.slice(1);
    if (name === undefined) throw new RulesFault(place, `a lone ${found} in a format string; double it`);
    const value = reader.constants.get(name.trim());
    if (value?.kind !== "string") throw new RulesFault(place, `{${name}} is not a constant string of this file`);
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
const placeOf = ({ line, column }: Place): Place => ({ line, column });

function unexpected(token: Token, wanted: string): RulesFault {
  return new RulesFault(token, `expected ${wanted}, found ${describe(token)}`);
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
