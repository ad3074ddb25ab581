// Instructions, rules and skills of repository and user, read when they are needed.

import { existsSync } from "node:fs";
import type { Repository } from "@agentcli/engine";
import type { CommandRoot } from "../commands/roots.ts";
import { directoriesBetween } from "../files/directories.ts";
import { describeProblem, type FileProblem } from "../files/problem.ts";
import { defaultMaxBytes, type InstructionSources, readInstructions } from "../instructions/agents-md.ts";
import { ruleFolder } from "../instructions/rule-folder.ts";
import type { Rules } from "../instructions/rules.ts";
import type { Skills } from "../skills/read.ts";
import type { SkillRoot } from "../skills/roots.ts";
import type { SkillSwitch } from "../skills/switches.ts";
import type { PromptTexts } from "./prompt-texts.ts";

export interface ThreadTexts {
  rules: string[];
  catalogues: string[];
  warnings: string[];
  /** Replaces the built-in instructions. */
  baseInstructions?: string | undefined;
  /** Of the user, in addition. */
  developerInstructions?: string | undefined;
}

export interface ProjectContext {
  /** The context of a new thread. */
  forThread(): Promise<ThreadTexts>;
  /** Files the instructions of a new thread come from. */
  sources(): string[];
  /** Skills and rules that a prompt names. */
  forPrompt(prompt: string): Promise<PromptTexts>;
  repository: Repository;
}

export interface ContextRequest {
  /** Of the project. */
  root: string;
  cwd: string;
  /** Directory of the user's instructions; null if there is no user. */
  home: string | null;
  /** Maximum bytes of all instructions together. */
  maxBytes?: number | undefined;
  /** Fallback names where AGENTS.md is missing. */
  fallbackNames?: string[] | undefined;
  skills: SkillOptions;
  /** Where commands are, the nearest first. */
  commands?: CommandRoot[];
  /** Tokens; null if it is not known. */
  contextWindow: number | null;
}

export interface SkillOptions {
  roots: SkillRoot[];
  switches?: SkillSwitch[] | undefined;
  /** Whether the model receives the list. */
  catalogue: "listed" | "omitted";
  maxTokens?: number | undefined;
}

export function openContext({
  skills: choice,
  commands = [],
  contextWindow,
  ...request
}: ContextRequest): ProjectContext {
  const { root, cwd, home, maxBytes = defaultMaxBytes, fallbackNames = [] } = request;
  const instructionSources: InstructionSources = { root, cwd, home, maxBytes, fallbackNames };
  const rules = once(() => readRules(directoriesBetween(root, cwd), root));
  const skills = once(() => usableSkills(choice));
  const reported = new Set<string>();
  return {
    async forThread() {
      const instructions = readInstructions(instructionSources);
      const always = await alwaysApplied(await rules(), maxBytes);
      const catalogue =
        choice.catalogue === "listed" ? await listSkills(await skills(), choice, contextWindow) : noTexts;
      return {
        rules: [...instructions.texts, ...always.texts],
        catalogues: catalogue.texts,
        warnings: [...warningsOf([...instructions.problems, ...always.problems]), ...catalogue.warnings],
      };
    },
    sources: () => readInstructions(instructionSources).sources,
    async forPrompt(prompt) {
      if (!/[@$]|^\s*\//.test(prompt)) return { messages: [], warnings: [] };
      const { promptTexts } = await import("./prompt-texts.ts");
      return promptTexts(prompt, { rules: (await rules()).rules, skills: await skills(), commands });
    },
    repository: {
      async textsFor(touched, sent) {
        const { readNested } = await import("../instructions/nested.ts");
        const { texts, problems } = readNested({ ...instructionSources, rules: (await rules()).rules }, touched, sent);
        const warnings = warningsOf(problems).filter((warning) => !reported.has(warning));
        for (const warning of warnings) reported.add(warning);
        return { texts, warnings };
      },
    },
  };
}

/** Read at most once, and only when needed. */
function once<Value>(read: () => Value): () => Value {
  let value: { read: Value } | undefined;
  return () => {
    value ??= { read: read() };
    return value.read;
  };
}

/** Loads the reader only where there is something to read. */
async function readRules(directories: string[], root: string): Promise<Rules> {
  const has = directories.some((directory) => existsSync(ruleFolder(directory)));
  return has ? (await import("../instructions/rules.ts")).readRules(directories, root) : { rules: [], problems: [] };
}

async function alwaysApplied({ rules, problems }: Rules, maxBytes: number) {
  if (rules.length === 0) return { texts: [], problems };
  const always = (await import("../instructions/rules.ts")).ruleTexts(rules, maxBytes);
  return { texts: always.texts, problems: [...problems, ...always.problems] };
}

/** Without disabled ones. */
async function usableSkills({ roots, switches }: SkillOptions): Promise<Skills> {
  if (!roots.some(({ path }) => existsSync(path))) return { skills: [], problems: [], notes: [] };
  const { skills, ...rest } = (await import("../skills/read.ts")).readSkills(roots, switches);
  return { skills: skills.filter(({ enabled }) => enabled), ...rest };
}

const noTexts = { texts: [], warnings: [] };

async function listSkills({ skills, problems }: Skills, { maxTokens }: SkillOptions, contextWindow: number | null) {
  const warnings = warningsOf(problems.filter(({ severity }) => severity === "error"));
  if (skills.length === 0) return { texts: [], warnings };
  const { catalogueBudget, skillCatalogue } = await import("../skills/catalogue.ts");
  const { text, leftOut } = skillCatalogue(skills, catalogueBudget(contextWindow, maxTokens));
  return {
    texts: text === null ? [] : [text],
    warnings: leftOut === 0 ? warnings : [...warnings, leftOutWarning(leftOut)],
  };
}

const maxWarnings = 10;

/** A repository with many mistakes must not flood the output. */
function warningsOf(problems: FileProblem[]): string[] {
  const shown = problems.slice(0, maxWarnings).map(describeProblem);
  const more = problems.length - shown.length;
  return more === 0 ? shown : [...shown, `${more} more files of this kind cannot be used. See agentcli skills check.`];
}

const leftOutWarning = (count: number): string =>
  `${count} skills are not listed for the model: there is no room left. Raise skills.max_context_tokens or call them with $name.`;
