// Skills, commands, agents and hooks that a run here would use, and those that exist and are not used, each with the reason.
import { existsSync } from "node:fs";
import { join } from "node:path";
import type { Environment } from "@agentcli/host";
import {
  commandRoots,
  describeProblem,
  directoriesBetween,
  type FileProblem,
  readAgentRoles,
  type Skill,
} from "@agentcli/project";
import { catalogueBudget, readCommands, readSkills, skillCatalogue } from "@agentcli/project/skills";
import { readsOtherTools, rootsOfSkills } from "../config/context.ts";
import type { Settled } from "../config/settings.ts";
import { roleSource } from "../exec/sub-agents.ts";
import { hooksIn } from "../hooks/listed.ts";
import { doubtful, type Finding, fine } from "./finding.ts";

export async function examineProjectFiles(settled: Settled, environment: Environment): Promise<Finding[]> {
  const { config } = settled.loaded;
  const skills = examineSkills(settled, environment);
  const commands = readsOtherTools(config) ? examineCommands(settled, skills.names, environment) : [];
  const roles = await readAgentRoles(roleSource(settled.loaded, settled.settings.cwd, environment));
  const fromFiles = roles.roles.filter(({ source }) => source !== "built-in");
  return [
    ...skills.findings,
    ...commands,
    ...(fromFiles.length === 0 ? [] : [fine("agents", fromFiles.map(({ name }) => name).join(", "))]),
    ...notUsed("agents", [...roles.problems, ...roles.notes]),
    ...examineHooks(settled, environment),
    ...(readsOtherTools(config) ? [] : ignoredFolders(settled, environment)),
  ];
}

function examineSkills({ settings: { cwd }, loaded: { config, project } }: Settled, environment: Environment) {
  const roots = rootsOfSkills({ root: project.root, cwd, config }, environment);
  const { skills, problems, notes } = readSkills(roots, config.skills?.config);
  const usable = skills.filter(({ enabled }) => enabled);
  const budget = catalogueBudget(config.model_context_window ?? null, config.skills?.max_context_tokens);
  const { leftOut } = skillCatalogue(usable, budget);
  const off = skills.filter(({ enabled }) => !enabled).map(switchedOff);
  const findings = [
    ...(usable.length === 0 ? [] : [fine("skills", usable.map(({ name }) => name).join(", "))]),
    ...notUsed("skills", [...problems, ...notes, ...off]),
    ...(leftOut === 0
      ? []
      : [doubtful("skills", `${leftOut} are not listed for the model: there is no room left`, raise)]),
  ];
  return { findings, names: new Set(usable.map(({ name }) => name)) };
}

const raise = "raise skills.max_context_tokens, or call them with $name";

const switchedOff = ({ path, name }: Skill): FileProblem => ({
  path,
  line: null,
  severity: "warning",
  message: `not used: ${name} is switched off in skills.config`,
});

function examineCommands({ settings: { cwd }, loaded }: Settled, skills: Set<string>, { userHome }: Environment) {
  const { commands, notes } = readCommands(commandRoots({ root: loaded.project.root, cwd, userHome }), skills);
  const names = commands.map(({ name }) => `/${name}`).join(", ");
  return [...(names === "" ? [] : [fine("commands", names)]), ...notUsed("commands", notes)];
}

function examineHooks({ settings, loaded }: Settled, environment: Environment): Finding[] {
  return hooksIn(settings.cwd, loaded, environment).hooks.flatMap(({ definition, status, enabled }) => {
    if (!enabled) return [doubtful("hooks", `${definition.key}: switched off`, "see agentcli hooks list")];
    if (status === "trusted" || status === "managed") return [];
    return [doubtful("hooks", `${definition.key}: not used: ${status}`, "look at it and use agentcli hooks trust")];
  });
}

const maxListed = 20;

function notUsed(name: string, problems: FileProblem[]): Finding[] {
  const listed = problems.slice(0, maxListed).map((problem) => doubtful(name, describeProblem(problem), change));
  const more = problems.length - listed.length;
  return more === 0 ? listed : [...listed, doubtful(name, `${more} more of this kind`, "see agentcli skills check")];
}

const change = "change the file or remove it, if it is meant to be used here";

const folders = [".codex/skills", ".claude/skills", ".claude/commands", ".claude/agents"];

function ignoredFolders({ settings: { cwd }, loaded }: Settled, { userHome }: Environment): Finding[] {
  const directories = [...directoriesBetween(loaded.project.root, cwd), userHome];
  const present = directories
    .flatMap((directory) => folders.map((folder) => join(directory, folder)))
    .filter(existsSync);
  if (present.length === 0) return [];
  return [doubtful("other tools", `not read: ${present.join(", ")}`, "remove compatible_folders = false")];
}
