// Reads custom agents from their files. The nearest definition of a name wins.
import type { FileProblem } from "../files/problem.ts";
import { readProjectText } from "../files/project-text.ts";
import { parseMarkdownRole } from "./markdown-role.ts";
import { parseForeignRole } from "./other-tools.ts";
import { type AgentRole, completeRole, type RoleDefinition } from "./role.ts";
import { type DeclaredRole, idleKeys, type ParsedRole, type ParseToml, parseTomlRole, tableRole } from "./toml-role.ts";

export interface RoleFile {
  /** Null for a role that is a table only. */
  path: string | null;
  within: string | null;
  format: "toml" | "markdown";
  declared?: DeclaredRole;
}

/** Of other tools. */
export interface ForeignFile {
  path: string;
  within: string | null;
}

type Roles = Map<string, AgentRole>;

/** Later files win. */
export async function addRoles(roles: Roles, files: RoleFile[]): Promise<FileProblem[]> {
  const parseToml = files.some(({ path, format }) => path && format === "toml")
    ? (await import("../config/toml.ts")).parse
    : noToml;
  const problems: FileProblem[] = [];
  for (const file of files) {
    const { role, problems: found } = readRole(file, roles, parseToml);
    problems.push(...found);
    if (role) roles.set(role.name, completeRole(role, roles.get(role.name)));
  }
  return problems;
}

/** Last, and only where the name is free: the project's own and the built-in agents win. */
export function addForeignRoles(roles: Roles, files: ForeignFile[]): FileProblem[] {
  const notes: FileProblem[] = [];
  for (const { path, within } of files) {
    const { role, messages } = readForeignRole(path, within);
    const winner = role && roles.get(role.name);
    notes.push(...messages.map((message): FileProblem => ({ ...about(path), message })));
    if (winner) notes.push({ ...about(path), message: `not used: ${role.name} is ${winner.source}` });
    else if (role) roles.set(role.name, completeRole(role, undefined));
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

interface Read {
  role: RoleDefinition | null;
  problems: FileProblem[];
}

function readRole({ path, within, format, declared }: RoleFile, known: Roles, parseToml: ParseToml): Read {
  if (path === null) return orProblem(tableRole(declared ?? {}, known.get(declared?.name ?? "")), "config.toml", []);
  const { text, problems } = readProjectText(path, { maxBytes: maxRoleBytes, within });
  if (text === null && problems.length === 0 && declared)
    return orProblem({ problem: `there is no such file; fix agents.${declared.name}.config_file` }, path, []);
  if (text === null) return { role: null, problems: problems.map(malformed) };
  if (format === "markdown") return orProblem(parseMarkdownRole(text, path), path, problems);
  const parsed = parseTomlRole(text, { source: path, declared }, parseToml);
  if ("problem" in parsed) return orProblem(parsed, path, problems);
  const idle = idleKeys(parseToml(text), within).map((message): FileProblem => ({ ...about(path), message }));
  const { provider, ...role } = parsed;
  return { role: within === null && provider ? { ...role, provider } : role, problems: [...problems, ...idle] };
}

function orProblem(role: ParsedRole, path: string, problems: FileProblem[]): Read {
  if (!("problem" in role)) return { role, problems };
  return {
    role: null,
    problems: [...problems, malformed({ path, line: null, severity: "error", message: role.problem })],
  };
}

const about = (path: string) => ({ path, line: null, severity: "warning" as const });

const maxRoleBytes = 262_144;

const noToml: ParseToml = () => {
  throw new Error("a TOML file without its parser");
};

const malformed = (problem: FileProblem): FileProblem => ({
  ...problem,
  message: `Ignoring malformed agent role definition: ${problem.message}`,
});
