// `--passphrase-file`: encrypts a backup. A file, because other users can see the command line.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";

const minLength = 12;

export function readPassphrase({ text }: Invocation, { cwd }: Program): string | null {
  const value = text("passphrase-file");
  if (value === undefined) return null;
  const passphrase = read(resolve(cwd, value)).replace(/\r?\n$/, "");
  if (passphrase.length >= minLength) return passphrase;
  throw new CommandError(
    "usage",
    `The passphrase in ${value} is too short: it needs at least ${minLength} characters.`,
  );
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new CommandError("usage", `The passphrase file ${path} cannot be read: ${(error as Error).message}.`, {
      cause: error,
    });
  }
}
