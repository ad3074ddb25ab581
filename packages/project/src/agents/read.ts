// The custom agents of a run: built-in, of the user, of the repository. The nearest definition of a name wins.
import { join } from "node:path";
import { directoriesBetween } from "../files/directories.ts";
import type { FileProblem } from "../files/problem.ts";
import { findFiles } from "../files/walk.ts";
import { type AgentRole, builtInRoles } from "./role.ts";
import type { ForeignFile, RoleFile } from "./role-files.ts";
import type { DeclaredRole } from "./toml-role.ts";

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
  const foreign = foreignFiles(sources);
  // Without files there is nothing to read them with.
  if (files.length === 0 && foreign.length === 0) return { roles: sorted(builtInRoles), problems: [], notes: [] };
  const { addForeignRoles, addRoles } = await import("./role-files.ts");
  const roles = new Map(builtInRoles.map((role) => [role.name, role]));
  const problems = await addRoles(roles, files);
  const notes = addForeignRoles(roles, foreign);
  return { roles: sorted([...roles.values()]), problems, notes };
}

const sorted = (roles: AgentRole[]): AgentRole[] => [...roles].sort((one, other) => (one.name < other.name ? -1 : 1));

/** First, because a file in a folder of agents overrides the table. */
const declaredFiles = ({ declared = {} }: AgentSources): RoleFile[] =>
  Object.entries(declared).map(([name, { config_file: path = null, ...settings }]) => ({
    path,
    within: null,
    format: "toml",
    declared: { name, ...settings },
  }));

function filesInFolders(sources: AgentSources): RoleFile[] {
  const declared = new Set(Object.values(sources.declared ?? {}).map(({ config_file }) => config_file));
  return foldersOf(sources).flatMap(({ path: folder, within, matchesName }) =>
    findFiles(folder, { matchesName })
      .files.filter(({ path }) => !declared.has(path))
      .map(({ path }) => ({ path, within, format: isToml(path) ? "toml" : "markdown" })),
  );
}

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

function foreignFiles({ root, cwd, otherTools }: AgentSources): ForeignFile[] {
  if (!otherTools) return [];
  const { userHome } = otherTools;
  const repository = directoriesBetween(root, cwd).reverse();
  const folders = [
    ...repository.map((directory) => ({ path: join(directory, ".claude", "agents"), within: root as string | null })),
    ...(userHome === null ? [] : [{ path: join(userHome, ".claude", "agents"), within: null }]),
  ];
  return folders.flatMap(({ path: folder, within }) =>
    findFiles(folder, { matchesName: isMarkdown }).files.map(({ path }) => ({ path, within })),
  );
}
