// `--passphrase-file`: what a backup is sealed with. A file, because others see the command line.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { Invocation } from "../args.ts";
import { UsageProblem } from "../problem.ts";
import type { Program } from "../program.ts";

const shortest = 12;

export function readPassphrase({ text }: Invocation, { cwd }: Program): string | null {
  const given = text("passphrase-file");
  if (given === undefined) return null;
  const passphrase = read(resolve(cwd, given)).replace(/\r?\n$/, "");
  if (passphrase.length >= shortest) return passphrase;
  throw new UsageProblem(`The passphrase in ${given} is too short: it needs ${shortest} characters or more.`);
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new UsageProblem(`The passphrase file ${path} cannot be read: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}
