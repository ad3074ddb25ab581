// What the commands about automations as code share: the files of a directory, the team, and the plan.
import { existsSync, lstatSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import {
  type DeclaredAutomation,
  type PlannedChange,
  planChanges,
  readAutomationFile,
  readExisting,
} from "../../automations/as-code/index.ts";
import type { ViewContext } from "../../automations/views.ts";
import { openAdministration } from "../../identity/principals/index.ts";
import type { Invocation } from "../command.ts";
import { findTeam } from "../find-team.ts";
import type { Program } from "../program.ts";

export const defaultDirectory = ".platform/automations";
const maxFileBytes = 1024 * 1024;

export interface FilesContext {
  invocation: Invocation;
  program: Program;
  view: ViewContext;
}

export const directoryOf = ({ invocation, program }: FilesContext): string =>
  resolve(program.cwd, invocation.positionals[0] ?? defaultDirectory);

export async function teamOf({ invocation, view: { platform } }: FilesContext): Promise<number> {
  const administration = openAdministration(platform.db, platform.vault);
  return (await findTeam(administration, invocation.text("team") ?? "default")).id;
}

export interface DirectoryPlan {
  teamId: number;
  changes: PlannedChange[];
}

/** Throws CommandError with every problem, each with its file and line. */
export async function planDirectory(context: FilesContext): Promise<DirectoryPlan> {
  const files = readFiles(context);
  const teamId = await teamOf(context);
  const existing = await readExisting(context.view, teamId);
  const planned = planChanges(files, existing);
  if (planned.kind === "changes") return { teamId, changes: planned.changes };
  const lines = planned.problems.map(({ file, member, reason }) => {
    const line = files.find((one) => one.file === file)?.lineOf([member]) ?? 1;
    return `${file}:${line}: ${member}: ${reason}`;
  });
  throw new CommandError("usage", lines.join("\n"));
}

type DeclaredFile = DeclaredAutomation & { lineOf(path: PropertyKey[]): number };

function readFiles(context: FilesContext): DeclaredFile[] {
  const directory = directoryOf(context);
  const shown = (path: string) => relative(context.program.cwd, path);
  const problems: string[] = [];
  const files = listFiles(directory).flatMap((path) => {
    const read = readAutomationFile(readText(path));
    if (read.kind === "valid") return [{ file: shown(path), document: read.document, lineOf: read.lineOf }];
    problems.push(...read.problems.map(({ line, reason }) => `${shown(path)}:${line}: ${reason}`));
    return [];
  });
  if (problems.length > 0) throw new CommandError("usage", problems.join("\n"));
  return files;
}

/** Throws CommandError where there is no such directory. */
export function listFiles(directory: string): string[] {
  if (!existsSync(directory))
    throw new CommandError("usage", `There is no directory ${directory}. Make it with: platform automations export`);
  return readdirSync(directory)
    .filter((name) => /\.ya?ml$/.test(name))
    .sort()
    .map((name) => join(directory, name));
}

export function readText(path: string): string {
  const about = lstatSync(path);
  if (!about.isFile()) throw new CommandError("usage", `${path}: is not a regular file.`);
  if (about.size > maxFileBytes) throw new CommandError("usage", `${path}: is larger than ${maxFileBytes} bytes.`);
  return readFileSync(path, "utf8");
}

/** Deletions only with `--delete`: a file that is missing may be a mistake. */
export const withoutDeletions = (changes: PlannedChange[], invocation: Invocation): PlannedChange[] =>
  changes.filter(({ action }) => action !== "delete" || invocation.has("delete"));

export function describePlan(changes: PlannedChange[], invocation: Invocation): string {
  const count = (action: PlannedChange["action"]) => changes.filter((change) => change.action === action).length;
  const kept = count("keep");
  const removed = invocation.has("delete") ? `${count("delete")} to delete` : "none to delete";
  const total = `${count("create")} to create, ${count("change")} to change, ${removed}, ${kept} unchanged.`;
  return `${[...changes.flatMap((change) => linesOf(change, invocation)), total].join("\n")}\n`;
}

function linesOf(change: PlannedChange, invocation: Invocation): string[] {
  switch (change.action) {
    case "keep":
      return [];
    case "create":
      return [`+ ${change.name}  (${change.file})`];
    case "change":
      return [
        `~ ${change.name}  (${change.file})`,
        ...change.differences.map(({ path, from, to }) => `    ${path}: ${short(from)} -> ${short(to)}`),
      ];
    case "delete":
      return [
        invocation.has("delete")
          ? `- ${change.name}  (${change.id})`
          : `  ${change.name}  (${change.id}) has no file; it stays without --delete`,
      ];
  }
}

const maxLength = 120;
const short = (text: string | undefined): string =>
  text === undefined ? "(none)" : text.length > maxLength ? `${text.slice(0, maxLength)}…` : text;
