// Tells the caller of a command that a limit of the sandbox was met meanwhile: an exit code alone would not say so.
import type { Chunk, ExecResult } from "@agentcli/protocol";
import type { OpenedWorkspace } from "../client/lazy.ts";
import { addNote, type NotedResult } from "../client/note.ts";
import { WorkspaceLost } from "../client/workspace-lost.ts";
import type { OpenedLimits } from "./limits.ts";

export function withLimitNotes(workspace: OpenedWorkspace, limits: OpenedLimits): OpenedWorkspace {
  const noted = new Map<string, NotedResult>();

  function judge(id: string, result: ExecResult): { result: ExecResult; note?: Chunk } {
    if (result.state !== "exited") return { result };
    const known = noted.get(id);
    if (known !== undefined) return known;
    const sentences = limits.newlyMet();
    if (sentences.length === 0) return { result };
    const fresh = addNote(result, `${sentences.join("\n")}\n`);
    noted.set(id, fresh);
    return fresh;
  }

  /** The kernel ends whoever has most, which may be the server itself. */
  function explain(error: unknown): never {
    const sentences = error instanceof WorkspaceLost ? limits.newlyMet() : [];
    throw sentences.length === 0 ? error : new WorkspaceLost(`its server was ended. ${sentences.join(" ")}`);
  }

  return {
    ...workspace,
    async exec(request, onChunk, signal) {
      const { result, note } = judge(request.id, await workspace.exec(request, onChunk, signal).catch(explain));
      if (note !== undefined && note.seq > (request.afterSeq ?? 0)) onChunk(note);
      return result;
    },
    async release(ids) {
      await workspace.release(ids);
      for (const id of ids.length === 0 ? [...noted.keys()] : ids) noted.delete(id);
    },
  };
}
