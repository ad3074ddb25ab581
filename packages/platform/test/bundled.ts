// Makes a program of a test file: Node cannot run TypeScript at our floor, and what is killed must be a process.
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";
import { afterAll } from "vitest";

/** Inside the package, so that what it does not contain is found from there. */
const folder = mkdtempSync(join(import.meta.dirname, "../dist-test-"));
afterAll(() => rmSync(folder, { recursive: true }));

const made = new Map<string, Promise<string>>();

/** The path of the program; made once per test file. */
export function bundled(name: string): Promise<string> {
  const known = made.get(name) ?? bundle(name);
  made.set(name, known);
  return known;
}

async function bundle(name: string): Promise<string> {
  const file = join(folder, name.replace(/\.ts$/, ".mjs"));
  const bundle = await rolldown({
    input: join(import.meta.dirname, name),
    platform: "node",
    external: (id) => !/^[./]|^@agentcli\//.test(id),
  });
  await bundle.write({ file, format: "esm", codeSplitting: false });
  return file;
}
