// Bundles a test file into a program: our minimum Node version cannot run TypeScript, and tests need a process to kill.
import { mkdtempSync, rmSync } from "node:fs";
import { basename, join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll } from "vitest";

/** Inside the package, so that external modules are resolved from there. */
const folder = mkdtempSync(join(import.meta.dirname, "../../dist-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const made = new Map<string, Promise<string>>();

/** `name` is relative to `test/`. Returns the path of the program; built once per test file. */
export function bundled(name: string): Promise<string> {
  const known = made.get(name) ?? bundle(name);
  made.set(name, known);
  return known;
}

const bundle = (name: string) => write(name, folder, (id) => !/^[./]|^@agentcli\//.test(id));

/** With everything it needs, for a user who cannot read the repository. */
export const bundleInto = (directory: string, name: string): Promise<string> =>
  write(name, directory, (id) => id.startsWith("node:") || /node-pty|@koromix/.test(id));

async function write(name: string, to: string, external: (id: string) => boolean): Promise<string> {
  const file = join(to, basename(name).replace(/\.ts$/, ".mjs"));
  const program = await rolldown({ input: join(import.meta.dirname, "..", name), platform: "node", external });
  await program.write({ file, format: "esm", codeSplitting: false });
  return file;
}
