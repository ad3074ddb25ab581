// What the repository and the user have written for the model: instructions, rules and skills, read when they are needed.
import type { Repository } from "@agentcli/engine";
import {
  catalogueBudget,
  defaultMaxBytes,
  describeProblem,
  directoriesBetween,
  type FileProblem,
  type InstructionPlaces,
  mentionedRules,
  mentionedSkills,
  readInstructions,
  readNested,
  readRules,
  readSkills,
  ruleBody,
  ruleMessage,
  ruleTexts,
  type SkillRoot,
  type Skills,
  skillCatalogue,
  skillMessage,
  skillRoots,
} from "@agentcli/project";
import type { Config, ContextMessage } from "@agentcli/protocol";
import type { Environment } from "./environment.ts";

export interface ThreadTexts {
  rules: string[];
  catalogues: string[];
  warnings: string[];
}

export interface PromptTexts {
  messages: ContextMessage[];
  warnings: string[];
}

export interface ProjectContext {
  /** What a new thread begins with. */
  forThread(): ThreadTexts;
  /** Files the instructions of a new thread come from. */
  sources(): string[];
  /** Skills and rules that a prompt calls by name. */
  forPrompt(prompt: string): PromptTexts;
  repository: Repository;
}

export interface ContextRequest {
  /** Of the project. */
  root: string;
  cwd: string;
  config: Config;
  environment: Environment;
  /** Tokens; null where nobody knows. */
  contextWindow: number | null;
}

export function openContext({ root, cwd, config, environment, contextWindow }: ContextRequest): ProjectContext {
  const places: InstructionPlaces = {
    root,
    cwd,
    home: environment.agentHome,
    maxBytes: config.project_doc_max_bytes ?? defaultMaxBytes,
    fallbackNames: config.project_doc_fallback_filenames ?? [],
  };
  const rules = once(() => readRules(directoriesBetween(places.root, cwd), places.root));
  const skills = once(() => {
    const read = readSkills(placesOfSkills({ root, cwd }, environment), config.skills?.config);
    return { ...read, skills: read.skills.filter(({ enabled }) => enabled) };
  });
  const told = new Set<string>();
  return {
    forThread() {
      const instructions = readInstructions(places);
      const always = ruleTexts(rules().rules, places.maxBytes);
      const listed = config.skills?.include_instructions === false ? null : skills();
      const budget = catalogueBudget(contextWindow, config.skills?.max_context_tokens);
      const catalogue = skillCatalogue(listed?.skills ?? [], budget);
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
    sources: () => readInstructions(places).sources,
    forPrompt(prompt) {
      const called = prompt.includes("@") ? mentionedRules(prompt, rules().rules) : [];
      const { messages, warnings } = /\$|^\s*\//.test(prompt) ? skillTexts(prompt, skills()) : noTexts;
      const texts = called.map((rule) => ruleMessage([ruleBody(rule)]));
      return { messages: [...texts.map(userMessage), ...messages], warnings };
    },
    repository: {
      async textsFor(touched, given) {
        const { texts, problems } = readNested({ ...places, rules: rules().rules }, touched, given);
        const warnings = warningsOf(problems).filter((warning) => !told.has(warning));
        for (const warning of warnings) told.add(warning);
        return { texts, warnings };
      },
    },
  };
}

/** What a sandbox has to show. Not the repository's: a link there could lead to what must stay hidden. */
export const ownSkillPlaces = (cwd: string, environment: Environment): string[] =>
  placesOfSkills({ root: cwd, cwd }, environment).flatMap(({ path, scope }) => (scope === "repository" ? [] : [path]));

export const placesOfSkills = (
  { root, cwd }: { root: string; cwd: string },
  { userHome, agentHome }: Environment,
): SkillRoot[] => skillRoots({ root, cwd, userHome, agentHome });

/** Read at most once, and only where it is asked for. */
function once<Value>(read: () => Value): () => Value {
  let value: { read: Value } | undefined;
  return () => {
    value ??= { read: read() };
    return value.read;
  };
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
    ],
  };
}

const userMessage = (text: string): ContextMessage => ({ role: "user", parts: [{ type: "text", text }] });

const mostWarnings = 10;

/** A repository full of mistakes must not bury what the run says. */
function warningsOf(problems: FileProblem[]): string[] {
  const shown = problems.slice(0, mostWarnings).map(describeProblem);
  const more = problems.length - shown.length;
  return more === 0 ? shown : [...shown, `${more} more files of this kind cannot be used. See agentcli skills check.`];
}

const leftOutWarning = (count: number): string =>
  `${count} skills are not listed for the model: there is no room left. Raise skills.max_context_tokens or call them with $name.`;
