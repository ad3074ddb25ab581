// Runs git to its end even if this program is stopped or killed meanwhile, for operations that must not be interrupted.
import { spawn } from "node:child_process";
import { type FileHandle, mkdtemp, open, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type GitRequest, type GitResult, prepareGit } from "@agentcli/host/git";

/** It gets all of its input before it starts, and no signal for this program's group reaches it. */
export async function gitToItsEnd(request: GitRequest): Promise<GitResult> {
  const { directory, input } = request;
  const call = await prepareGit(request);
  if (call.kind === "refused") return { ...call, stdout: Buffer.alloc(0) };
  const file = await openUnnamed(input ?? Buffer.alloc(0));
  try {
    return await new Promise((resolve, reject) => {
      const child = spawn(call.program, call.args, {
        cwd: directory,
        env: call.env,
        detached: true,
        stdio: [file.fd, "ignore", "pipe"],
      });
      let stderr = "";
      child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
        stderr += piece;
      });
      child.on("error", reject);
      child.on("close", (code) => resolve({ code: code ?? 1, stdout: Buffer.alloc(0), stderr }));
    });
  } finally {
    await file.close();
  }
}

/** Removed when the process that has it open ends. */
async function openUnnamed(content: Buffer): Promise<FileHandle> {
  const directory = await mkdtemp(join(tmpdir(), "agentcli-"));
  try {
    await writeFile(join(directory, "input"), content);
    return await open(join(directory, "input"));
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
