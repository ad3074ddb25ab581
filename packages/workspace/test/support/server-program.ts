// Builds programs from the sources as the release does, one file each.
import { mkdirSync, readdirSync, renameSync, statSync } from "node:fs";
import { join } from "node:path";
import { rolldown } from "rolldown";

const sources = join(import.meta.dirname, "../../src");
const directory = join(import.meta.dirname, "../../../../node_modules/.cache/workspace-server");

/** The server, with the launcher of Landlock beside it. */
export async function serverProgram(): Promise<string> {
  await built("landlock-launcher.cjs", "sandbox/landlock/launcher.ts");
  return built("workspace-server.cjs", "server/main.ts");
}

/** Built once per change of the sources. Several test files may ask at once: the last step is a rename. */
async function built(name: string, source: string): Promise<string> {
  const program = join(directory, `${Math.round(newestChange())}`, name);
  if (statSync(program, { throwIfNoEntry: false }) !== undefined) return program;
  mkdirSync(join(program, ".."), { recursive: true });
  const draft = `${program}.${process.pid}.cjs`;
  await buildProgram(join(sources, source), draft);
  renameSync(draft, program);
  return program;
}

export async function buildProgram(input: string, output: string): Promise<void> {
  const bundle = await rolldown({
    input,
    platform: "node",
    external: ["@lydell/node-pty", "rolldown"],
    logLevel: "silent",
  });
  await bundle.write({ file: output, format: output.endsWith(".cjs") ? "cjs" : "esm", codeSplitting: false });
  await bundle.close();
}

const newestChange = () =>
  Math.max(
    ...readdirSync(sources, { recursive: true, encoding: "utf8" }).map((path) => statSync(join(sources, path)).mtimeMs),
  );
