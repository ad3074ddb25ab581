// The custom agents of a run: built in, the user's, the repository's. The nearest definition of a name wins.
import { join } from "node:path";
import { directoriesBetween } from "../files/places.ts";
import type { FileProblem } from "../files/problem.ts";
import { readProjectText } from "../files/project-text.ts";
import { findFiles } from "../files/walk.ts";
import { parseMarkdownRole } from "./markdown-role.ts";
import { type AgentRole, builtInRoles, completeRole, type RoleDefinition } from "./role.ts";
import { type DeclaredRole, type ParsedRole, type ParseToml, parseTomlRole, tableRole } from "./toml-role.ts";

export interface AgentPlaces {
  root: string;
  cwd: string;
  /** Null where there is no user. */
  agentHome: string | null;
  /** `[agents.NAME]` of the configuration: a table, and perhaps a file. */
  declared?: Record<string, DeclaredTable>;
}

export interface DeclaredTable extends Omit<DeclaredRole, "name"> {
  config_file?: string | undefined;
}

export interface AgentRoles {
  /** By name. */
  roles: AgentRole[];
  problems: FileProblem[];
}

export async function readAgentRoles(places: AgentPlaces): Promise<AgentRoles> {
  const files = [...declaredFiles(places), ...foundFiles(places)];
  const parseToml = files.some(({ path, declared }) => path && (declared || isToml(path)))
    ? (await import("smol-toml")).parse
    : noToml;
  const roles = new Map(builtInRoles.map((role) => [role.name, role]));
  const problems: FileProblem[] = [];
  for (const file of files) {
    const { role, problems: found } = readRole(file, roles, parseToml);
    problems.push(...found);
    if (role) roles.set(role.name, completeRole(role, roles.get(role.name)));
  }
  return { roles: [...roles.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), problems };
}

interface RoleFile {
  /** Null for a role that is a table only. */
  path: string | null;
  within: string | null;
  declared?: DeclaredRole;
}

/** Before all that is found: a file in a folder of agents is nearer than a table that speaks of it. */
const declaredFiles = ({ declared = {} }: AgentPlaces): RoleFile[] =>
  Object.entries(declared).map(([name, { config_file: path = null, ...said }]) => ({
    path,
    within: null,
    declared: { name, ...said },
  }));

function foundFiles(places: AgentPlaces): RoleFile[] {
  const declared = new Set(Object.values(places.declared ?? {}).map(({ config_file }) => config_file));
  return foldersOf(places).flatMap(({ path: folder, within, isWanted }) =>
    findFiles(folder, { isWanted })
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
  const { text, problems } = readProjectText(path, { mostBytes: mostRoleBytes, within });
  if (text === null && problems.length === 0 && declared)
    return orProblem({ problem: `there is no such file; mend agents.${declared.name}.config_file` }, path, []);
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

const mostRoleBytes = 262_144;
const isMarkdown = (name: string): boolean => /\.(?:md|mdc|markdown)$/.test(name);
const isToml = (name: string): boolean => name.endsWith(".toml");
const isMarkdownOrToml = (name: string): boolean => isMarkdown(name) || isToml(name);

/** Later ones win. */
function foldersOf({ root, cwd, agentHome }: AgentPlaces) {
  const home = agentHome === null ? null : join(agentHome, "agents");
  const repository = directoriesBetween(root, cwd).flatMap((directory) => [
    { path: join(directory, ".platform", "agents"), within: root, isWanted: isMarkdown },
    { path: join(directory, ".agentcli", "agents"), within: root, isWanted: isToml },
  ]);
  const own = home === null ? [] : [{ path: home, within: null, isWanted: isMarkdownOrToml }];
  return [...own, ...repository.filter(({ path }) => path !== home)];
}

const noToml: ParseToml = () => {
  throw new Error("a TOML file without its parser");
};

const malformed = (problem: FileProblem): FileProblem => ({
  ...problem,
  message: `Ignoring malformed agent role definition: ${problem.message}`,
});
