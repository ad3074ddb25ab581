// Bundles a test file into a program: our minimum Node version cannot run TypeScript, and tests need a process to kill.
import { mkdtempSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll } from "vitest";

/** For the top of a test file, whose last test removes the programs. `name` is relative to `test/`; each is built once. */
export function programsOfTests(): (name: string) => Promise<string> {
  // Inside the package, so that external modules are resolved from there.
  const folder = mkdtempSync(join(import.meta.dirname, "../../dist-test-"));
  afterAll(() => rmSync(folder, { recursive: true }));
  const made = new Map<string, Promise<string>>();
  return (name) => {
    const known = made.get(name) ?? write(name, folder, (id) => !/^[./]|^@agentcli\//.test(id));
    made.set(name, known);
    return known;
  };
}

/** With everything it needs, for a user who cannot read the repository. */
export const bundleInto = (directory: string, name: string): Promise<string> =>
  write(name, directory, (id) => id.startsWith("node:") || /node-pty|@koromix/.test(id));

async function write(name: string, to: string, external: (id: string) => boolean): Promise<string> {
  const file = join(to, basename(name).replace(/\.ts$/, ".mjs"));
  const program = await rolldown({ input: join(import.meta.dirname, "..", name), platform: "node", external });
  await program.write({ file, format: "esm", codeSplitting: false });
  return file;
}
