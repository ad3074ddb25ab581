// Builds the server program once per change of its sources, and hands out where it is.
import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const sources = join(import.meta.dirname, "../src");
const directory = join(import.meta.dirname, "../../../node_modules/.cache/workspace-server");

/** Several test files may ask at once: each builds under a name of its own, and a rename publishes it. */
export async function serverProgram(): Promise<string> {
  const program = join(directory, `${Math.round(newestChange())}`, "workspace-server.cjs");
  if (statSync(program, { throwIfNoEntry: false }) !== undefined) return program;
  mkdirSync(join(program, ".."), { recursive: true });
  const draft = `${program}.${process.pid}`;
  const bundle = await rolldown({
    input: join(sources, "server/main.ts"),
    platform: "node",
    external: ["@lydell/node-pty"],
    logLevel: "silent",
  });
  await bundle.write({ file: draft, format: "cjs", codeSplitting: false });
  await bundle.close();
  renameSync(draft, program);
  return program;
}

const newestChange = () =>
  Math.max(
    ...readdirSync(sources, { recursive: true, encoding: "utf8" }).map((path) => statSync(join(sources, path)).mtimeMs),
  );
