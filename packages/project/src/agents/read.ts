// The custom agents of a run: built-in, of the user, of the repository. The nearest definition of a name wins.
import { join } from "node:path";
import { directoriesBetween } from "../files/directories.ts";
import type { FileProblem } from "../files/problem.ts";
import { readProjectText } from "../files/project-text.ts";
import { findFiles } from "../files/walk.ts";
import { parseMarkdownRole } from "./markdown-role.ts";
import { parseForeignRole } from "./other-tools.ts";
import { type AgentRole, builtInRoles, completeRole, type RoleDefinition } from "./role.ts";
import { type DeclaredRole, type ParsedRole, type ParseToml, parseTomlRole, tableRole } from "./toml-role.ts";

export interface AgentSources {
  root: string;
  cwd: string;
  /** Null if there is no user. */
  agentHome: string | null;
  /** Also agents of other tools, of the repository and of this home. */
  otherTools?: { userHome: string | null };
  /** `[agents.NAME]` of the configuration: a table, optionally with a file. */
  declared?: Record<string, DeclaredTable>;
}

export interface DeclaredTable extends Omit<DeclaredRole, "name"> {
  config_file?: string | undefined;
}

export interface AgentRoles {
  /** By name. */
  roles: AgentRole[];
  problems: FileProblem[];
  /** Files of other tools that are not used, and what has no effect in the others. */
  notes: FileProblem[];
}

export async function readAgentRoles(sources: AgentSources): Promise<AgentRoles> {
  const files = [...declaredFiles(sources), ...filesInFolders(sources)];
  const parseToml = files.some(({ path, declared }) => path && (declared || isToml(path)))
    ? (await import("../config/toml.ts")).parse
    : noToml;
  const roles = new Map(builtInRoles.map((role) => [role.name, role]));
  const problems: FileProblem[] = [];
  for (const file of files) {
    const { role, problems: found } = readRole(file, roles, parseToml);
    problems.push(...found);
    if (role) roles.set(role.name, completeRole(role, roles.get(role.name)));
  }
  const notes = addOtherTools(roles, sources);
  return { roles: [...roles.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), problems, notes };
}

/** Last, and only where the name is free: the project's own and the built-in agents win. */
function addOtherTools(roles: Map<string, AgentRole>, { root, cwd, otherTools }: AgentSources): FileProblem[] {
  if (!otherTools) return [];
  const notes: FileProblem[] = [];
  const { userHome } = otherTools;
  const repository = directoriesBetween(root, cwd).reverse();
  const folders = [
    ...repository.map((directory) => ({ path: join(directory, ".claude", "agents"), within: root as string | null })),
    ...(userHome === null ? [] : [{ path: join(userHome, ".claude", "agents"), within: null }]),
  ];
  for (const { path: folder, within } of folders) {
    for (const { path } of findFiles(folder, { matchesName: isMarkdown }).files) {
      const { role, messages } = readForeignRole(path, within);
      const winner = role && roles.get(role.name);
      notes.push(...messages.map((message): FileProblem => ({ path, line: null, severity: "warning", message })));
      if (winner)
        notes.push({ path, line: null, severity: "warning", message: `not used: ${role.name} is ${winner.source}` });
      else if (role) roles.set(role.name, completeRole(role, undefined));
    }
  }
  return notes;
}

function readForeignRole(path: string, within: string | null): { role: RoleDefinition | null; messages: string[] } {
  const { text, problems } = readProjectText(path, { maxBytes: maxRoleBytes, within });
  const messages = problems.map(({ message }) => message);
  if (text === null) return { role: null, messages };
  const parsed = parseForeignRole(text, path);
  if ("problem" in parsed) return { role: null, messages: [...messages, `not used: ${parsed.problem}`] };
  return { role: parsed.role, messages: [...messages, ...parsed.notes] };
}

interface RoleFile {
  /** Null for a role that is a table only. */
  path: string | null;
  within: string | null;
  declared?: DeclaredRole;
}

/** First, because a file in a folder of agents overrides the table. */
const declaredFiles = ({ declared = {} }: AgentSources): RoleFile[] =>
  Object.entries(declared).map(([name, { config_file: path = null, ...settings }]) => ({
    path,
    within: null,
    declared: { name, ...settings },
  }));

function filesInFolders(sources: AgentSources): RoleFile[] {
  const declared = new Set(Object.values(sources.declared ?? {}).map(({ config_file }) => config_file));
  return foldersOf(sources).flatMap(({ path: folder, within, matchesName }) =>
    findFiles(folder, { matchesName })
      .files.filter(({ path }) => !declared.has(path))
      .map(({ path }) => ({ path, within })),
  );
}

interface Read {
  role: RoleDefinition | null;
  problems: FileProblem[];
}

function readRole({ path, within, declared }: RoleFile, known: Map<string, AgentRole>, parseToml: ParseToml): Read {
  if (path === null) return orProblem(tableRole(declared ?? {}, known.get(declared?.name ?? "")), "config.toml", []);
  const { text, problems } = readProjectText(path, { maxBytes: maxRoleBytes, within });
  if (text === null && problems.length === 0 && declared)
    return orProblem({ problem: `there is no such file; fix agents.${declared.name}.config_file` }, path, []);
  if (text === null) return { role: null, problems: problems.map(malformed) };
  const isFromToml = isToml(path) || declared !== undefined;
  const role = isFromToml ? parseTomlRole(text, { source: path, declared }, parseToml) : parseMarkdownRole(text, path);
  return orProblem(role, path, problems);
}

function orProblem(role: ParsedRole, path: string, problems: FileProblem[]): Read {
  if (!("problem" in role)) return { role, problems };
  return {
    role: null,
    problems: [...problems, malformed({ path, line: null, severity: "error", message: role.problem })],
  };
}

const maxRoleBytes = 262_144;
const isMarkdown = (name: string): boolean => /\.(?:md|mdc|markdown)$/.test(name);
const isToml = (name: string): boolean => name.endsWith(".toml");
const isMarkdownOrToml = (name: string): boolean => isMarkdown(name) || isToml(name);

/** Later ones win. */
function foldersOf({ root, cwd, agentHome }: AgentSources) {
  const home = agentHome === null ? null : join(agentHome, "agents");
  const repository = directoriesBetween(root, cwd).flatMap((directory) => [
    { path: join(directory, ".platform", "agents"), within: root, matchesName: isMarkdown },
    { path: join(directory, ".agentcli", "agents"), within: root, matchesName: isToml },
  ]);
  const userFolder = home === null ? [] : [{ path: home, within: null, matchesName: isMarkdownOrToml }];
  return [...userFolder, ...repository.filter(({ path }) => path !== home)];
}

const noToml: ParseToml = () => {
  throw new Error("a TOML file without its parser");
};

const malformed = (problem: FileProblem): FileProblem => ({
  ...problem,
  message: `Ignoring malformed agent role definition: ${problem.message}`,
});
