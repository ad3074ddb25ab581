// A generated project in the shape of a real one, and what its tasks are.
import type { Extension, Repair } from "../work.ts";

export interface Project {
  files: Record<string, string>;
  /** Installed packages of this repository that the project uses, in its `node_modules`. */
  packages?: string[];
  /** Other links, as a package manager makes them: name → target. */
  links?: Record<string, string>;
  repair: Repair;
  extension: Extension;
}

/** As many files as a project of some years has. */
export function filesFor(count: number, file: (name: string) => [path: string, text: string]): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => file(`part${index + 1}`)));
}

export const commonFiles = {
  LICENSE: "A licence.\n",
  ".editorconfig": "root = true\n\n[*]\nend_of_line = lf\n",
  ".github/workflows/test.yml":
    "on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n      - run: make test\n",
};
