// Reads a YAML file with an automation, strictly: each problem has its line and the reason.
import { type Document, isMap, isNode, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { findPromptProblem, findTriggerProblems } from "../definition.ts";
import { AutomationDocument } from "./document.ts";

export interface FileProblem {
  line: number;
  reason: string;
}

export type ReadFile =
  | { kind: "valid"; document: AutomationDocument; lineOf(path: Path): number }
  | { kind: "invalid"; problems: FileProblem[] };

type Path = PropertyKey[];

export function readAutomationFile(text: string): ReadFile {
  const lines = new LineCounter();
  const yaml = parseDocument(text, { lineCounter: lines, prettyErrors: false, stringKeys: true });
  const [broken] = [...yaml.errors, ...yaml.warnings];
  if (broken) {
    const reason = broken.code === "MULTIPLE_DOCS" ? "one automation per file" : broken.message;
    return invalid([{ line: lines.linePos(broken.pos[0]).line, reason: `not valid YAML: ${reason}` }]);
  }
  const lineOf = (path: Path): number => lines.linePos(positionOf(yaml, path)).line;
  const value = toValue(yaml);
  if (value.kind === "problem") return invalid([{ line: 1, reason: value.reason }]);
  const parsed = AutomationDocument.safeParse(value.value);
  if (!parsed.success)
    return invalid(parsed.error.issues.flatMap(problemsOf).map(({ path, reason }) => ({ line: lineOf(path), reason })));
  const problems = rulesOf(parsed.data).map(({ path, reason }) => ({ line: lineOf(path), reason }));
  return problems.length > 0 ? invalid(problems) : { kind: "valid", document: parsed.data, lineOf };
}

const invalid = (problems: FileProblem[]): ReadFile => ({ kind: "invalid", problems });

type Value = { kind: "value"; value: unknown } | { kind: "problem"; reason: string };

/** Aliases can make a small file large. */
function toValue(yaml: Document): Value {
  try {
    return { kind: "value", value: yaml.toJS({ maxAliasCount: 100 }) };
  } catch (error) {
    return { kind: "problem", reason: (error as Error).message };
  }
}

interface LocatedProblem {
  path: Path;
  reason: string;
}

function problemsOf(issue: z.core.$ZodIssue): LocatedProblem[] {
  const named = (path: Path) => path.map(String).join(".") || "the file";
  if (issue.code === "unrecognized_keys")
    return issue.keys.map((key) => {
      const path = [...issue.path, key];
      return { path, reason: `${named(path)}: unknown member` };
    });
  return [{ path: issue.path, reason: `${named(issue.path)}: ${issue.message}` }];
}

/** What the API checks beyond the types. */
function rulesOf(document: AutomationDocument): LocatedProblem[] {
  const ofPrompt = findPromptProblem(document.prompt.text);
  return [
    ...findTriggerProblems(document).map(({ path, problem }) => ({
      ...{ path, reason: `${path.join(".")}: ${problem}` },
    })),
    ...(ofPrompt === null ? [] : [{ path: ["prompt", "text"], reason: ofPrompt }]),
  ];
}

/** Of the key of a member, or of the nearest thing around one that is missing. */
function positionOf(yaml: Document, path: Path): number {
  const last = path.at(-1);
  const parent = path.length === 0 ? undefined : nodeAt(yaml, path.slice(0, -1));
  if (isMap(parent)) {
    const key = parent.items.map((item) => item.key).find((one) => isScalar(one) && one.value === last);
    if (isScalar(key) && key.range) return key.range[0];
  }
  const node = nodeAt(yaml, path);
  if (isNode(node) && node.range) return node.range[0];
  return path.length === 0 ? 0 : positionOf(yaml, path.slice(0, -1));
}

const nodeAt = (yaml: Document, path: Path): unknown => (path.length === 0 ? yaml.contents : yaml.getIn(path, true));
