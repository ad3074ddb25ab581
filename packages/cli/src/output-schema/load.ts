// `--output-schema FILE`: read and checked before the run, sent in strict form, and held against the final message.
import { readFileSync } from "node:fs";
import { isAbsolute, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { Answer } from "@agentcli/engine";
import { type Draft, openDraft, type Validator } from "@agentcli/host/json-schema";
import { removeAbsent } from "./absence.ts";
import { strictForm } from "./strict-form.ts";
import { findStrictProblems } from "./strict-problems.ts";
import { isObject, type Schema } from "./walk.ts";

export interface OutputSchema {
  /** What the provider is sent. */
  strict: Schema;
  answer: Answer;
}

export function loadOutputSchema(file: string, directory: string): OutputSchema {
  const schema = readSchema(file, isAbsolute(file) ? file : resolve(directory, file));
  return openOutputSchema(schema, `--output-schema ${file}`);
}

/** `what` names the schema in messages. */
export function openOutputSchema(schema: unknown, what: string): OutputSchema {
  if (!isObject(schema)) throw new CommandError("usage", `${what}: expected a JSON object, got ${kindOf(schema)}.`);
  const draft = openDraft(schema);
  refuse(`${what} is not a valid JSON Schema`, draft.problems());
  refuse(
    `${what} uses JSON Schema features that strict structured output does not support`,
    findStrictProblems(schema),
  );
  return { strict: strictForm(schema), answer: answerIn(schema, compile(what, draft)) };
}

function refuse(what: string, problems: string[]): void {
  if (problems.length === 0) return;
  throw new CommandError("usage", `${what}:\n${problems.map((problem) => `  ${problem}`).join("\n")}`);
}

function compile(what: string, draft: Draft): Validator {
  try {
    return draft.compile();
  } catch (error) {
    throw new CommandError("usage", `${what} is not a valid JSON Schema: ${(error as Error).message}`);
  }
}

const readSchema = (file: string, path: string): unknown => parse(file, readText(file, path));

function readText(file: string, path: string): string {
  try {
    return readFileSync(path, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    throw new CommandError("usage", `--output-schema ${file} cannot be read: ${(error as Error).message}`);
  }
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError("usage", `--output-schema ${file} is not JSON: ${(error as Error).message}`);
  }
}

const kindOf = (value: unknown): string => {
  if (value === null) return "null";
  return Array.isArray(value) ? "a list" : `a ${typeof value}`;
};

// More would bury the cause; fixing the first often fixes the others.
const maxProblems = 10;

function answerIn(schema: Schema, validator: Validator): Answer {
  return {
    async check(message) {
      const parsed = parseAnswer(message);
      if (parsed.kind === "problem") return { ok: false, problem: parsed.problem };
      const value = removeAbsent(parsed.value, schema, validator.satisfies);
      const problems = validator.problems(value);
      if (problems.length > 0) return { ok: false, problem: problems.slice(0, maxProblems).join("; ") };
      return { ok: true, message: value === parsed.value ? parsed.text : JSON.stringify(value) };
    },
  };
}

type Parsed = { kind: "value"; value: unknown; text: string } | { kind: "problem"; problem: string };

/** A code block around the whole answer is not part of it. */
const codeBlock = /^\s*(`{3,}|~{3,})[^`~\n]*\n([\s\S]*?)\n?[ \t]*\1\s*$/;

function parseAnswer(message: string): Parsed {
  const text = codeBlock.exec(message)?.[2] ?? message;
  try {
    return { kind: "value", value: JSON.parse(text), text };
  } catch (error) {
    return { kind: "problem", problem: `it is not JSON (${(error as Error).message})` };
  }
}
