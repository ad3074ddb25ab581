// Writes a tree of generated files below the directory `--out` names.
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import type { Invocation } from "@agentcli/command-line";
import { CommandError } from "@agentcli/command-line";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Program } from "../program.ts";
import { type Bundle, loadBundle } from "./bundle.ts";

export async function writeFiles(
  make: (bundle: Bundle) => Map<string, string>,
  invocation: Invocation,
  { environment, reporter }: Program,
): Promise<number> {
  const out = invocation.text("out");
  if (out === undefined) throw new CommandError("usage", "Missing directory: pass --out DIR.");
  const directory = resolve(environment.cwd, out);
  const bundle = await loadBundle();
  const files = make(bundle);
  for (const [path, text] of files) {
    mkdirSync(dirname(join(directory, path)), { recursive: true });
    writeFileSync(join(directory, path), text);
  }
  reporter.log(`Wrote ${files.size} files of app server protocol ${bundle.version} to ${directory}.`);
  return exitCodes.completed.code;
}
