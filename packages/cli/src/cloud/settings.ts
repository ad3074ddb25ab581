// Which files of a patch programs obey: settings that a sandboxed agent cannot write, and what git and agents read.
import { CommandError } from "@agentcli/command-line";
import { protectedNames } from "@agentcli/workspace";

const settingsNames = new Set(protectedNames);
/** Lower case: some file systems do not tell the cases apart. */
const readNames = new Set([
  ...["agents.md", "agents.override.md", "claude.md", "gemini.md", ".mcp.json", ".cursorrules", ".cursor", ".gemini"],
  ...[".gitmodules", ".gitattributes", ".vscode", ".idea", ".envrc", ".githooks", ".husky"],
]);
const maxNamed = 5;

/** At any depth: agentcli also reads those of directories below. */
const isSettings = (path: string): boolean => partsOf(path).some((part) => settingsNames.has(part));

const partsOf = (path: string): string[] => path.toLowerCase().split("/");

/** Throws a CommandError if the patch changes settings. Paths byte for byte, as latin1. */
export function refuseSettings(paths: string[]): void {
  const settings = paths.filter(isSettings);
  if (settings.length === 0) return;
  throw new CommandError(
    "failed",
    `The changes contain settings that agents and their hooks obey on this machine, so nothing was changed: ${named(settings)}. Inspect them with: agentcli cloud diff. If you want them, use --with-settings.`,
  );
}

/** What a person should look at before using programs in the working tree. */
export const obeyedOf = (paths: string[]): string[] =>
  paths.filter((path) => isSettings(path) || partsOf(path).some((part) => readNames.has(part)));

export const named = (paths: string[]): string => {
  const more = paths.length - maxNamed;
  const names = paths.slice(0, maxNamed).map((path) => JSON.stringify(Buffer.from(path, "latin1").toString()));
  return [...names, ...(more > 0 ? [`and ${more} more`] : [])].join(", ");
};
