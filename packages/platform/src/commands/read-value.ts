// A value that must not be an argument: from a file, or from standard input.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { Program } from "./program.ts";

export async function readValue(file: string | undefined, program: Program): Promise<string> {
  const value = file === undefined ? await program.readInput() : readFile(resolve(program.cwd, file));
  if (value.trim() !== "") return value;
  throw new CommandError("usage", `The value is empty. Pipe it in, or use --file FILE.`);
}

function readFile(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError("usage", `The file ${path} cannot be read: ${(error as Error).message}.`, { cause: error });
  }
}
