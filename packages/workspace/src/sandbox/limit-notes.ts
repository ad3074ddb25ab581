// Adds a note to the output of a command if a limit of the sandbox was reached: the exit code alone does not show it.

import type { Chunk, ExecResult } from "@agentcli/protocol";
import { WorkspaceLost } from "@agentcli/protocol/workspace-errors";
import { addNote, type NotedResult } from "../client/index.ts";
import type { OpenedWorkspace } from "../lifecycle/index.ts";
import type { OpenedLimits } from "../limits/index.ts";

export function withLimitNotes(workspace: OpenedWorkspace, limits: OpenedLimits): OpenedWorkspace {
  const noted = new Map<string, NotedResult>();

  function addLimitNote(id: string, result: ExecResult): { result: ExecResult; note?: Chunk } {
    if (result.state !== "exited") return { result };
    const existing = noted.get(id);
    if (existing !== undefined) return existing;
    const sentences = limits.newlyReached();
    if (sentences.length === 0) return { result };
    const fresh = addNote(result, `${sentences.join("\n")}\n`);
    noted.set(id, fresh);
    return fresh;
  }

  /** The kernel kills the largest process, which may be the server itself. */
  function explainLoss(error: unknown): never {
    const sentences = error instanceof WorkspaceLost ? limits.newlyReached() : [];
    throw sentences.length === 0 ? error : new WorkspaceLost(`its server was killed. ${sentences.join(" ")}`);
  }

  return {
    ...workspace,
    async exec(request, onChunk, signal) {
      const { result, note } = addLimitNote(
        request.id,
        await workspace.exec(request, onChunk, signal).catch(explainLoss),
      );
      if (note !== undefined && note.seq > (request.afterSeq ?? 0)) onChunk(note);
      return result;
    },
    async release(ids) {
      await workspace.release(ids);
      for (const id of ids.length === 0 ? [...noted.keys()] : ids) noted.delete(id);
    },
  };
}
