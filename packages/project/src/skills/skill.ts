// A skill, read from the front matter of its SKILL.md and checked against the agent-skills rules.
import { basename, dirname } from "node:path";
import type { FileProblem } from "../files/problem.ts";
import { readFrontMatter } from "../front-matter/front-matter.ts";
import type { YamlValue } from "../front-matter/yaml.ts";
import type { SkillDependency } from "./metadata.ts";
import type { SkillPath } from "./roots.ts";

export interface Skill extends SkillPath {
  name: string;
  description: string;
  /** For display; the description if there is none. */
  shortDescription: string;
  /** Whether the model sees it, or the user has to name it. */
  invocation: "by-model" | "by-name";
  /** Display data from its metadata. */
  interface: Record<string, string>;
  /** Dependencies, such as an MCP server. */
  dependencies: SkillDependency[];
  /** Whether the configuration enables it. */
  enabled: boolean;
}

export type ReadSkill =
  /** `unsupported` are keys of other tools that have no effect. */
  | { kind: "skill"; skill: Skill; problems: FileProblem[]; unsupported: string[] }
  | { kind: "unusable"; problems: FileProblem[] };

export interface SkillFile extends SkillPath {
  /** Its start is enough, if it contains the whole front matter. */
  text: string;
}

const maxName = 64;
export const maxDescription = 1_024;

export function parseSkill({ path, scope, within, text }: SkillFile): ReadSkill {
  const matter = readFrontMatter(text);
  if (matter.kind !== "matter") return unusable(path, ...explain(matter));
  const { values, lines } = matter;
  const problems: FileProblem[] = [];
  const report = (severity: FileProblem["severity"], key: string, message: string) =>
    problems.push({ path, line: lines.get(key) ?? 1, severity, message });
  const folder = basename(dirname(path));
  const name = values.name === undefined || values.name === null ? folder : String(values.name).trim();
  const description = textOf(values.description);
  for (const message of nameProblems(name)) report("error", "name", message);
  if (name !== folder) report("warning", "name", `the name ${name} is not that of its folder ${folder}`);
  if (description === "")
    report("error", "description", "the description is missing; say what it does and when to use it");
  if (description.length > maxDescription)
    report(
      "error",
      "description",
      `the description has ${description.length} characters; the most is ${maxDescription}`,
    );
  if (description === "" || !/^[\w:-]+$/.test(name) || name.length > maxName) return { kind: "unusable", problems };
  const invocation = values["disable-model-invocation"] === true ? "by-name" : "by-model";
  const shown = { shortDescription: shortOf(values) || description, interface: {}, dependencies: [] };
  const skill: Skill = { name, description, ...shown, path, scope, within, invocation, enabled: true };
  return { kind: "skill", skill, problems, unsupported: Object.keys(values).filter((key) => !knownKeys.has(key)) };
}

const knownKeys = new Set([
  ...["name", "description", "disable-model-invocation", "metadata", "license", "compatibility", "argument-hint"],
]);

function nameProblems(name: string): string[] {
  const problems = [];
  if (name.length > maxName) problems.push(`the name has ${name.length} characters; the most is ${maxName}`);
  if (!/^[a-z0-9-]+$/.test(name)) problems.push(`the name ${JSON.stringify(name)} may hold only a-z, 0-9 and hyphens`);
  else if (/^-|-$|--/.test(name))
    problems.push(`the name ${name} may not begin or end with a hyphen, nor hold two in a row`);
  return problems;
}

function explain(matter: Exclude<ReturnType<typeof readFrontMatter>, { kind: "matter" }>): [number, string] {
  switch (matter.kind) {
    case "none":
      return [1, "it does not begin with front matter; put name and description between two --- lines"];
    case "unclosed":
      return [1, "its front matter does not end; close it with a line ---"];
    case "problem":
      return [matter.line, `its front matter cannot be read: ${matter.message}`];
  }
}

const unusable = (path: string, line: number, message: string): ReadSkill => ({
  kind: "unusable",
  problems: [{ path, line, severity: "error", message }],
});

const textOf = (value: YamlValue | undefined): string =>
  typeof value === "string" || typeof value === "number" ? String(value).replace(/\s+/g, " ").trim() : "";

function shortOf({ metadata }: Record<string, YamlValue>): string {
  const isMap = typeof metadata === "object" && metadata !== null && !Array.isArray(metadata);
  return isMap ? textOf(metadata["short-description"]) : "";
}
