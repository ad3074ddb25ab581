// Folders that the build puts beside the program: the web app and the documentation.
import { existsSync } from "node:fs";
import { join } from "node:path";

/** Beside the built program, or in dist where the sources run. `what` names it in the error. */
export function findBuiltFolder(name: string, what: string): string {
  const folders = [name, `../${name}`, `../dist/${name}`, `../../dist/${name}`];
  const found = folders
    .map((path) => join(import.meta.dirname, path))
    .find((path) => existsSync(join(path, "index.html")));
  if (found === undefined) throw new Error(`${what} is not built. Run: node scripts/build.mjs`);
  return found;
}
