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

async function bundle(name: string): Promise<string> {
  const file = join(folder, basename(name).replace(/\.ts$/, ".mjs"));
  const bundle = await rolldown({
    input: join(import.meta.dirname, "..", name),
    platform: "node",
    external: (id) => !/^[./]|^@agentcli\//.test(id),
  });
  await bundle.write({ file, format: "esm", codeSplitting: false });
  return file;
}
