// Gives files that root wrote for a sandbox to the user who runs in it.
import { execFile } from "node:child_process";
import { statSync } from "node:fs";
import { promisify } from "node:util";
import { SandboxUnavailable } from "@agentcli/protocol/workspace-errors";

/**
 * Only files of root change hands, and their dates of change with it; all of them if the directory was another user's, as
 * after a change of the machine. `chown` descends by directory descriptors, so a link
 * that replaces a directory meanwhile is not followed.
 */
export async function giveFiles(directory: string, userId: number): Promise<void> {
  const from = [0, userId].includes(statSync(directory).uid) ? ["--from=0:0"] : [];
  try {
    await promisify(execFile)("/bin/chown", ["-R", "-h", "-P", ...from, `${userId}:${userId}`, "--", directory]);
  } catch (error) {
    const { stderr, message } = error as Error & { stderr?: string };
    throw new SandboxUnavailable(
      `The files in ${directory} could not be given to user ${userId}: ${(stderr || message).trim()}.`,
      "Install GNU coreutils, or run the server as an ordinary user.",
    );
  }
}
