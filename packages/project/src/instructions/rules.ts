// `.platform/rules/**/*.mdc`: rules that always apply, apply to matching files, are read on request, or by name.
import type { FileProblem } from "../files/problem.ts";
import { readProjectText } from "../files/project-text.ts";
import { findFiles } from "../files/walk.ts";
import { readFrontMatter } from "../front-matter/front-matter.ts";
import type { YamlValue } from "../front-matter/yaml.ts";
import { splitGlobs } from "./globs.ts";
import { ruleFolder } from "./rule-folder.ts";

export interface Rule {
  name: string;
  path: string;
  /** The directory of the `.platform` folder; globs are relative to it. */
  directory: string;
  description: string;
  body: string;
  applies: { when: "always" } | { when: "files"; globs: string[] } | { when: "asked" } | { when: "named" };
}

export interface Rules {
  rules: Rule[];
  problems: FileProblem[];
}

const maxRuleBytes = 65_536;
const maxDescription = 1_536;

/** Of these directories, in order; links must stay inside `root`. */
export function readRules(directories: string[], root: string): Rules {
  const rules: Rule[] = [];
  const problems: FileProblem[] = [];
  for (const directory of directories) {
    const folder = ruleFolder(directory);
    for (const { path } of findFiles(folder, { matchesName: (name) => name.endsWith(".mdc") }).files) {
      const read = readProjectText(path, { maxBytes: maxRuleBytes, within: root });
      problems.push(...read.problems);
      const rule = read.text === null ? null : parseRule(read.text, path);
      if (rule === null) continue;
      if ("message" in rule) problems.push(rule);
      else rules.push({ ...rule, directory, name: path.slice(folder.length + 1, -".mdc".length), path });
    }
  }
  return { rules, problems };
}

type RuleText = Pick<Rule, "description" | "body" | "applies">;

function parseRule(text: string, path: string): RuleText | FileProblem {
  const matter = readFrontMatter(text);
  const problem = (line: number, message: string): FileProblem => ({ path, line, severity: "error", message });
  if (matter.kind === "problem") return problem(matter.line, `${matter.message}; the rule is not used`);
  if (matter.kind !== "matter")
    return problem(1, "it does not begin with front matter between --- lines; the rule is not used");
  const { values, body } = matter;
  const description = typeof values.description === "string" ? values.description.trim() : "";
  return {
    description: description.slice(0, maxDescription),
    body: body.trim(),
    applies: application(values, description),
  };
}

function application(values: Record<string, YamlValue>, description: string): Rule["applies"] {
  if (values.alwaysApply === true) return { when: "always" };
  const listed = Array.isArray(values.globs) ? values.globs : [values.globs];
  const globs = listed.flatMap((glob) => (typeof glob === "string" ? splitGlobs(glob) : []));
  if (globs.length > 0) return { when: "files", globs };
  return description === "" ? { when: "named" } : { when: "asked" };
}

/** The text for the model at the start; null if no rule applies yet. */
export function ruleTexts(rules: Rule[], maxBytes: number): { texts: string[]; problems: FileProblem[] } {
  const { bodies, problems } = withinBytes(
    rules.filter(({ applies }) => applies.when === "always"),
    maxBytes,
  );
  const asked = rules.filter(({ applies }) => applies.when === "asked");
  const list = asked.map(({ name, description, path }) => `- ${name}: ${oneLine(description)} (file: ${path})`);
  const offered =
    list.length === 0 ? [] : [`Rules to read, with read_file, when their description fits:\n${list.join("\n")}`];
  const parts = [...bodies, ...offered];
  return { texts: parts.length === 0 ? [] : [ruleMessage(parts)], problems };
}

export const ruleMessage = (parts: string[]): string =>
  `<repository_rules>\n${parts.join("\n\n")}\n</repository_rules>`;

export const ruleBody = ({ name, path, body }: Rule): string => `## ${name} (${path})\n${body}`;

function withinBytes(rules: Rule[], maxBytes: number): { bodies: string[]; problems: FileProblem[] } {
  let left = maxBytes;
  const bodies: string[] = [];
  const problems: FileProblem[] = [];
  for (const rule of rules) {
    const bytes = Buffer.byteLength(rule.body);
    left -= bytes;
    if (left >= 0) bodies.push(ruleBody(rule));
    else {
      const message = `it is skipped: rules that always apply may take ${maxBytes} bytes together (project_doc_max_bytes)`;
      problems.push({ path: rule.path, line: null, severity: "error", message });
    }
  }
  return { bodies, problems };
}

const oneLine = (text: string): string => text.replace(/\s+/g, " ").trim();

/** Rules that a prompt names with `@name`. */
export function mentionedRules(prompt: string, rules: Rule[]): Rule[] {
  const names = new Set([...prompt.matchAll(/(?:^|[\s("'`])@([\w./-]+)/g)].map(([, name = ""]) => name));
  const isNamed = ({ name }: Rule) => [...names].some((mention) => mention.replace(/[.:]$|\.mdc$/, "") === name);
  return rules.filter((rule) => rule.applies.when !== "always" && isNamed(rule));
}
