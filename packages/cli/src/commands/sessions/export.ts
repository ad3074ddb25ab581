// `agentcli sessions export`: a thread as its records or as a document.
import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { writeOutputFile } from "@agentcli/command-line/output-file";
import { exitCodes } from "@agentcli/protocol/exit-codes";
import type { Invocation } from "../../command.ts";
import type { Program } from "../../program.ts";
import { openSession } from "../../sessions/open.ts";

export async function run(invocation: Invocation, { environment, print }: Program): Promise<number> {
  const { path, records } = openSession(invocation.positionals[0], environment.agentHome);
  const isDocument = invocation.text("format") === "markdown";
  const text = isDocument ? (await import("../../sessions/markdown.ts")).toMarkdown(records) : wholeLines(path);
  const target = invocation.text("output-last-message");
  if (target === undefined) await print(text);
  else write(target, text, environment);
  return exitCodes.completed.code;
}

/** As they are in the file, records this version does not know included. */
function wholeLines(path: string): string {
  const text = readFileSync(path, "utf8");
  return text.slice(0, text.lastIndexOf("\n") + 1);
}

function write(target: string, text: string, { cwd, programs }: Program["environment"]): void {
  try {
    writeOutputFile({ path: resolve(cwd, target), mode: 0o600, programs }, text);
  } catch (error) {
    throw new CommandError("usage", `The export cannot be written to ${target}: ${(error as Error).message}.`);
  }
}
