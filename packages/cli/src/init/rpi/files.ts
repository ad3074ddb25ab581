// The files of the research, plan, implement workflow for one dialect, compared with those of a repository.
import { existsSync, lstatSync, readdirSync, readFileSync, realpathSync } from "node:fs";
import { dirname, join, relative, sep } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { addHooks, commandsOf } from "./hooks.ts";

export type Dialect = "agentcli" | "platform";

export interface RpiFile {
  /** In the repository. */
  path: string;
  text: string;
  isExecutable: boolean;
  /** `different`: a file of that name exists and says something else. */
  state: "new" | "same" | "extended" | "different";
}

/** `templates` has a folder per dialect, and the driver. */
export function rpiFiles(templates: string, dialect: Dialect, repository: string): RpiFile[] {
  const folder = join(templates, dialect);
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => relative(folder, join(entry.parentPath ?? entry.path, entry.name)).replaceAll(sep, "/"))
    .sort();
  const driver = readFileSync(join(templates, "rpi"), "utf8");
  return [
    ...files.map((path) => compare(repository, path, readFileSync(join(folder, path), "utf8"))),
    { ...compare(repository, "rpi", withDialect(driver, dialect)), isExecutable: true },
  ];
}

/** What the hooks of the workflow run. */
export const rpiCommands = (templates: string, dialect: Dialect): string[] =>
  commandsOf(readFileSync(join(templates, dialect, `.${dialect}`, "hooks.json"), "utf8"));

const settings = {
  agentcli: { FOLDER: "", REVIEW: "no", EVENTS: "PreToolUse" },
  platform: { FOLDER: "docs/rpi/", REVIEW: "ask", EVENTS: "beforeShellExecution|afterFileEdit|subagentStop|stop" },
};

const withDialect = (driver: string, dialect: Dialect): string =>
  Object.entries(settings[dialect]).reduce((text, [name, value]) => text.replaceAll(`@${name}@`, value), driver);

function compare(repository: string, path: string, text: string): RpiFile {
  refuseOutside(repository, path);
  const target = join(repository, path);
  const isExecutable = false;
  if (!existsSync(target)) return { path, text, isExecutable, state: "new" };
  const existing = readFileSync(target, "utf8");
  if (existing === text) return { path, text, isExecutable, state: "same" };
  if (!path.endsWith("/hooks.json")) return { path, text, isExecutable, state: "different" };
  const extended = addHooks(existing, text, target);
  return { path, text: extended, isExecutable, state: extended === existing ? "same" : "extended" };
}

/** A link in the repository would have the file written elsewhere. */
function refuseOutside(repository: string, path: string): void {
  const target = join(repository, path);
  let parent = dirname(target);
  while (!existsSync(parent)) parent = dirname(parent);
  const root = realpathSync(repository);
  const isInside = `${realpathSync(parent)}${sep}`.startsWith(`${root}${sep}`);
  const isLink = lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isInside || isLink)
    throw new CommandError("usage", `${target} is reached through a link. Remove the link first.`);
}
