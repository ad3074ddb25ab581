// The file for the final message. It is mostly in the directory where the agent works, which may have put a link to any other
// file of the runner in its place: what the agent says would go there.
import { closeSync, constants, openSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { StepError } from "./errors.ts";

/** `path` is absolute. */
export function writeMessage(path: string, message: string, workingDirectory: string): void {
  try {
    if (realpathSync(dirname(path)) !== expectedParent(dirname(path), workingDirectory))
      throw new Error("a directory above it is a link");
    const { O_WRONLY, O_CREAT, O_TRUNC, O_NOFOLLOW, O_NONBLOCK } = constants;
    const file = openSync(path, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_NONBLOCK, 0o666);
    try {
      writeFileSync(file, message);
    } finally {
      closeSync(file);
    }
  } catch (error) {
    throw new StepError(
      `output-file ${path} cannot be written: ${(error as Error).message}. If it is a link, the agent may have made it.`,
    );
  }
}

/** Links above the working directory are the runner's own, and so is every path outside of it. */
function expectedParent(parent: string, workingDirectory: string): string {
  const below = relative(workingDirectory, parent);
  return below === ".." || below.startsWith("../") ? realpathSync(parent) : join(realpathSync(workingDirectory), below);
}
