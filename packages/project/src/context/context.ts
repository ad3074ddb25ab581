// Instructions, rules and skills of repository and user, read when they are needed.
import type { Repository } from "@agentcli/engine";
import type { ContextMessage } from "@agentcli/protocol";
import { type CommandRoot, calledCommand } from "../commands/read.ts";
import { directoriesBetween } from "../files/directories.ts";
import { describeProblem, type FileProblem } from "../files/problem.ts";
import { defaultMaxBytes, type InstructionSources, readInstructions } from "../instructions/agents-md.ts";
import { readNested } from "../instructions/nested.ts";
import { mentionedRules, readRules, ruleBody, ruleMessage, ruleTexts } from "../instructions/rules.ts";
import { catalogueBudget, skillCatalogue } from "../skills/catalogue.ts";
import { mentionedSkills, skillMessage } from "../skills/mentions.ts";
import { readSkills, type Skills } from "../skills/read.ts";
import type { SkillRoot } from "../skills/roots.ts";
import type { SkillSwitch } from "../skills/switches.ts";

export interface ThreadTexts {
  rules: string[];
  catalogues: string[];
  warnings: string[];
  /** Replaces the built-in instructions. */
  baseInstructions?: string | undefined;
  /** Of the user, in addition. */
  developerInstructions?: string | undefined;
}

export interface PromptTexts {
  messages: ContextMessage[];
  warnings: string[];
}

export interface ProjectContext {
  /** The context of a new thread. */
  forThread(): ThreadTexts;
  /** Files the instructions of a new thread come from. */
  sources(): string[];
  /** Skills and rules that a prompt names. */
  forPrompt(prompt: string): PromptTexts;
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
    forThread() {
      const instructions = readInstructions(instructionSources);
      const always = ruleTexts(rules().rules, maxBytes);
      const listed = choice.catalogue === "listed" ? skills() : null;
      const catalogue = skillCatalogue(listed?.skills ?? [], catalogueBudget(contextWindow, choice.maxTokens));
      return {
        rules: [...instructions.texts, ...always.texts],
        catalogues: catalogue.text === null ? [] : [catalogue.text],
        warnings: [
          ...warningsOf([...instructions.problems, ...rules().problems, ...always.problems]),
          ...warningsOf(listed?.problems.filter(({ severity }) => severity === "error") ?? []),
          ...(catalogue.leftOut === 0 ? [] : [leftOutWarning(catalogue.leftOut)]),
        ],
      };
    },
    sources: () => readInstructions(instructionSources).sources,
    forPrompt(prompt) {
      const called = prompt.includes("@") ? mentionedRules(prompt, rules().rules) : [];
      const named = /\$|^\s*\//.test(prompt) ? skillTexts(prompt, skills()) : noTexts;
      const { messages, warnings } = /^\s*\//.test(prompt) ? orCommand(named, prompt, commands) : named;
      const texts = called.map((rule) => ruleMessage([ruleBody(rule)]));
      return { messages: [...texts.map(userMessage), ...messages], warnings };
    },
    repository: {
      async textsFor(touched, sent) {
        const { texts, problems } = readNested({ ...instructionSources, rules: rules().rules }, touched, sent);
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

/** Without disabled ones. */
function usableSkills({ roots, switches }: SkillOptions): Skills {
  const { skills, ...rest } = readSkills(roots, switches);
  return { skills: skills.filter(({ enabled }) => enabled), ...rest };
}

const noTexts: PromptTexts = { messages: [], warnings: [] };

function skillTexts(prompt: string, { skills }: Skills): PromptTexts {
  const mentioned = mentionedSkills(prompt, skills);
  const read = mentioned.skills.map(skillMessage);
  return {
    messages: read.flatMap((result) => ("text" in result ? [userMessage(result.text)] : [])),
    warnings: [
      ...read.flatMap((result) => ("message" in result ? [describeProblem(result)] : [])),
      ...mentioned.ambiguous.map(
        ({ name, paths }) => `$${name} could mean ${paths.join(" or ")}. Say which: [$${name}](${paths[0]}).`,
      ),
      ...mentioned.unknown.map(unknownSkill),
    ],
  };
}

/** Where no skill has the name. */
function orCommand(named: PromptTexts, prompt: string, roots: CommandRoot[]): PromptTexts {
  const called = named.messages.length === 0 ? calledCommand(prompt, roots) : null;
  if (!called) return named;
  const warnings = [...named.warnings, ...called.warnings.map(describeProblem)];
  return { messages: called.text === "" ? [] : [userMessage(called.text)], warnings };
}

export const unknownSkillStart = "There is no skill ";
const unknownSkill = (name: string): string =>
  `${unknownSkillStart}$${name}, or it is switched off. To see all skills: agentcli skills list`;

const userMessage = (text: string): ContextMessage => ({ role: "user", parts: [{ type: "text", text }] });

const maxWarnings = 10;

/** A repository with many mistakes must not flood the output. */
function warningsOf(problems: FileProblem[]): string[] {
  const shown = problems.slice(0, maxWarnings).map(describeProblem);
  const more = problems.length - shown.length;
  return more === 0 ? shown : [...shown, `${more} more files of this kind cannot be used. See agentcli skills check.`];
}

const leftOutWarning = (count: number): string =>
  `${count} skills are not listed for the model: there is no room left. Raise skills.max_context_tokens or call them with $name.`;
