// `-o FILE`: checked and emptied before the model is asked, so that a failed run leaves no earlier answer there; written at the end.
import { accessSync, constants, statSync } from "node:fs";
import { dirname, resolve } from "node:path";
import { CommandError } from "@agentcli/command-line";
import { emptyOutputFile, refuseLinkOfAgent, writeOutputFile } from "@agentcli/command-line/output-file";
import type { Environment } from "@agentcli/host";
import type { Program } from "../program.ts";

export function prepareOutputFile(file: string, { cwd, programs }: Environment): void {
  const path = resolve(cwd, file);
  try {
    refuseLinkOfAgent(path, programs);
    const existing = statSync(path, { throwIfNoEntry: false });
    if (existing?.isDirectory()) throw refusal(file, "it is a directory. Specify a file in it");
    if (!existing) checkDirectory(path, file);
    else if (existing.isFile()) emptyOutputFile({ path, programs });
    // Devices and pipes have no earlier answer, and opening a pipe would wait for its reader.
    else accessSync(path, constants.W_OK);
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw refusal(file, `${(error as Error).message}. Choose a file that you may write`);
  }
}

/** The message is on standard output as well: a file that cannot be written does not fail the run. */
export function keepMessage(file: string, message: string, { environment, reporter }: Program): void {
  const { cwd, programs } = environment;
  try {
    writeOutputFile({ path: resolve(cwd, file), programs }, message);
  } catch (error) {
    reporter.log(`warning: the final message could not be written to ${file}: ${(error as Error).message}`);
  }
}

function checkDirectory(path: string, file: string): void {
  const directory = dirname(path);
  const found = statSync(directory, { throwIfNoEntry: false });
  if (!found) throw refusal(file, `the directory ${directory} does not exist. Create it first`);
  if (!found.isDirectory()) throw refusal(file, `${directory} is not a directory`);
  accessSync(directory, constants.W_OK | constants.X_OK);
}

const refusal = (file: string, reason: string): CommandError =>
  new CommandError("usage", `-o ${file}: the final message could not be written there: ${reason}.`);
