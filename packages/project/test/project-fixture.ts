// A repository and a home for one test, created from files by name.
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { onTestFinished } from "vitest";

export interface ProjectFixture {
  /** The repository. */
  root: string;
  /** The agent home. */
  home: string;
  path(name: string): string;
}

/** Names that begin with `home:` are created in the home. */
export function projectFixture(files: Record<string, string | Buffer> = {}): ProjectFixture {
  const top = realpathSync(mkdtempSync(join(tmpdir(), "project-")));
  onTestFinished(() => rmSync(top, { recursive: true, force: true }));
  const root = join(top, "repository");
  const home = join(top, "home");
  for (const folder of [root, home]) mkdirSync(folder);
  const path = (name: string) => (name.startsWith("home:") ? join(home, name.slice(5)) : join(root, name));
  for (const [name, content] of Object.entries(files)) {
    mkdirSync(dirname(path(name)), { recursive: true });
    writeFileSync(path(name), content);
  }
  return { root, home, path };
}
