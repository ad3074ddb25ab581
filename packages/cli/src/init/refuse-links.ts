// Refuses to write a file of a repository through a link, or where something other than a file is.
import { existsSync, lstatSync, realpathSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { CommandError } from "@agentcli/command-line";

/** A link in the repository would have the file written elsewhere. */
export function refuseLinks(repository: string, path: string): void {
  const target = join(repository, path);
  let parent = dirname(target);
  while (!existsSync(parent)) parent = dirname(parent);
  const root = realpathSync(repository);
  const isInside = `${realpathSync(parent)}${sep}`.startsWith(`${root}${sep}`);
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (!isInside || found?.isSymbolicLink())
    throw new CommandError("usage", `${target} is reached through a link. Remove the link first.`);
  // To open a pipe would wait for its reader.
  if (found && !found.isFile()) throw new CommandError("usage", `${target} is not a file. Remove it first.`);
}
