// Refuses to write a file of a repository through a link.
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
  const isLink = lstatSync(target, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isInside || isLink)
    throw new CommandError("usage", `${target} is reached through a link. Remove the link first.`);
}
