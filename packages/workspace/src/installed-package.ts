// Packages that are installed with this program. Node would also look in NODE_PATH and in ~/.node_modules, where an agent
// may have written one of the same name.
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";

/** The directory of a package, as Node finds it from a file in the directories above; undefined if it is not installed. */
export function findInstalled(name: string, from: string): string | undefined {
  const directory = dirname(from);
  const found = join(directory, "node_modules", name);
  if (existsSync(found)) return found;
  return directory === from ? undefined : findInstalled(name, directory);
}
