// Loads rules from the files of all layers. An untrusted project may forbid and require approval, but not allow.
import { readFileSync, statSync } from "node:fs";
import { findRuleFiles, type RuleFile, type RuleLayer } from "../config/rule-files.ts";
import { defineRule } from "./define.ts";
import { parseRules } from "./parse.ts";
import type { Rule, RuleSet } from "./rule.ts";
import { RulesError } from "./rules-error.ts";

export interface LoadedRules {
  rules: RuleSet;
  /** `file:line:column: what is wrong`. */
  problems: string[];
}

export const loadRules = ({ layers }: { layers: RuleLayer[] }): LoadedRules => readRuleFiles(findRuleFiles(layers));

export function readRuleFiles(files: RuleFile[]): LoadedRules {
  const read = files.map((file) => ({ file, ...readRuleFile(file.path) }));
  const ranked = read.flatMap(({ file, rules }) =>
    rules.filter((rule) => mayCount(rule, file.kind)).map((rule) => ({ ...rule, rank: rank[file.kind] })),
  );
  return {
    rules: {
      prefixes: ranked.filter((rule) => rule.kind === "prefix"),
      networks: ranked.filter((rule) => rule.kind === "network"),
      executables: ranked.filter((rule) => rule.kind === "executable"),
    },
    problems: read.flatMap(({ problems }) => problems),
  };
}

const rank: Record<RuleFile["kind"], number> = { system: 3, user: 2, "project-trusted": 1, "project-untrusted": 0 };

/** A list of paths can only make other rules match less often. */
function mayCount(rule: Rule, kind: RuleFile["kind"]): boolean {
  if (kind !== "project-untrusted") return true;
  return rule.kind !== "executable" && rule.decision !== "allow";
}

const maxBytes = 1_048_576;

function readRuleFile(path: string): { rules: Rule[]; problems: string[] } {
  const rules: Rule[] = [];
  const problems: string[] = [];
  const attempt = (read: () => void) => {
    try {
      read();
    } catch (error) {
      problems.push(`${path}:${explain(error)}`);
    }
  };
  attempt(() => {
    for (const call of parseRules(readText(path))) attempt(() => rules.push(defineRule(call, path)));
  });
  return { rules, problems };
}

/** Only regular files: opening a pipe would block. */
function readText(path: string): string {
  const stats = statSync(path);
  if (!stats.isFile()) throw new RulesError({ line: 1, column: 1 }, "this is not a file");
  if (stats.size > maxBytes) throw new RulesError({ line: 1, column: 1 }, `the file is larger than ${maxBytes} bytes`);
  return readFileSync(path, "utf8").replace(/^\uFEFF/, "");
}

function explain(error: unknown): string {
  if (error instanceof RulesError) return `${error.location.line}:${error.location.column}: ${error.message}`;
  const { code, message } = error as NodeJS.ErrnoException;
  if (code !== undefined) return `1:1: the file cannot be read: ${message}`;
  throw error;
}
