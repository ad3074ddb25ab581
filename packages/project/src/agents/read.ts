// The custom agents of a run: built in, the user's, the repository's. The nearest definition of a name wins.
import { join } from "node:path";
import { directoriesBetween } from "../files/places.ts";
import type { FileProblem } from "../files/problem.ts";
import { readProjectText } from "../files/project-text.ts";
import { findFiles } from "../files/walk.ts";
import { parseMarkdownRole } from "./markdown-role.ts";
import { type AgentRole, builtInRoles, completeRole } from "./role.ts";
import { type ParsedRole, type ParseToml, parseTomlRole } from "./toml-role.ts";

export interface AgentPlaces {
  root: string;
  cwd: string;
  agentHome: string;
}

export interface AgentRoles {
  /** By name. */
  roles: AgentRole[];
  problems: FileProblem[];
}

export async function readAgentRoles(places: AgentPlaces): Promise<AgentRoles> {
  const files = foldersOf(places).flatMap(({ path, within, isWanted }) =>
    findFiles(path, { isWanted }).files.map((file) => ({ path: file.path, within })),
  );
  const parseToml = files.some(({ path }) => path.endsWith(".toml")) ? (await import("smol-toml")).parse : noToml;
  const roles = new Map(builtInRoles.map((role) => [role.name, role]));
  const problems: FileProblem[] = [];
  for (const { path, within } of files) {
    const read = readProjectText(path, { mostBytes: mostRoleBytes, within });
    problems.push(...read.problems.map((problem) => (read.text === null ? malformed(problem) : problem)));
    if (read.text === null) continue;
    const role = parseRole(read.text, path, parseToml);
    if ("problem" in role) problems.push(malformed({ path, line: null, severity: "error", message: role.problem }));
    else roles.set(role.name, completeRole(role, roles.get(role.name)));
  }
  return { roles: [...roles.values()].sort((one, other) => (one.name < other.name ? -1 : 1)), problems };
}

const mostRoleBytes = 262_144;
const isMarkdown = (name: string): boolean => /\.(?:md|mdc|markdown)$/.test(name);
const isToml = (name: string): boolean => name.endsWith(".toml");

/** Later ones win. */
function foldersOf({ root, cwd, agentHome }: AgentPlaces) {
  const home = join(agentHome, "agents");
  const repository = directoriesBetween(root, cwd).flatMap((directory) => [
    { path: join(directory, ".platform", "agents"), within: root, isWanted: isMarkdown },
    { path: join(directory, ".agentcli", "agents"), within: root, isWanted: isToml },
  ]);
  return [
    { path: home, within: null, isWanted: (name: string) => isMarkdown(name) || isToml(name) },
    ...repository.filter(({ path }) => path !== home),
  ];
}

const parseRole = (text: string, path: string, parseToml: ParseToml): ParsedRole =>
  path.endsWith(".toml") ? parseTomlRole(text, path, parseToml) : parseMarkdownRole(text, path);

const noToml: ParseToml = () => {
  throw new Error("a TOML file without its parser");
};

const malformed = (problem: FileProblem): FileProblem => ({
  ...problem,
  message: `Ignoring malformed agent role definition: ${problem.message}`,
});
