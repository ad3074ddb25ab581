// The files of the research, plan, implement workflow for one dialect, compared with those of a repository.
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, relative, sep } from "node:path";
import { refuseLinks } from "../refuse-links.ts";
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
  refuseLinks(repository, path);
  const target = join(repository, path);
  const isExecutable = false;
  if (!existsSync(target)) return { path, text, isExecutable, state: "new" };
  const existing = readFileSync(target, "utf8");
  if (existing === text) return { path, text, isExecutable, state: "same" };
  if (!path.endsWith("/hooks.json")) return { path, text, isExecutable, state: "different" };
  const extended = addHooks(existing, text, target);
  return { path, text: extended, isExecutable, state: extended === existing ? "same" : "extended" };
}
