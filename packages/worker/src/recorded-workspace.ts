// A workspace whose commands are recorded: one that an earlier process of the worker started is not started again, and what
// it has printed is replayed.
import type { Chunk, ExecRequest, ExecResult } from "@agentcli/protocol";
import type { OpenedWorkspace } from "@agentcli/workspace";
import type { KeptResult, SandboxResults } from "./results.ts";

export function recordResults(workspace: OpenedWorkspace, results: SandboxResults): OpenedWorkspace {
  const known = new Set<string>();
  return {
    ...workspace,
    exec(request, onChunk, signal) {
      const kept = known.has(request.id) ? undefined : results.find(request.id);
      if (kept !== undefined) return Promise.resolve(replay(kept, request, onChunk));
      if (known.has(request.id) || request.start === undefined) return workspace.exec(request, onChunk, signal);
      known.add(request.id);
      const record = results.begin(request.id);
      const executed = workspace.exec(request, onChunk, signal);
      // To its end, whatever becomes of the connection that asked for it.
      void workspace.exec({ id: request.id }, record.add, new AbortController().signal).then(record.end, record.close);
      return executed;
    },
    release(ids) {
      results.remove(ids);
      return workspace.release(ids);
    },
    close() {
      results.stop();
      return workspace.close();
    },
  };
}

function replay(kept: KeptResult, { afterSeq = 0 }: ExecRequest, onChunk: (chunk: Chunk) => void): ExecResult {
  for (const chunk of kept.chunks) if (chunk.seq > afterSeq) onChunk(chunk);
  return kept.ended ?? { state: "unknown", message: interrupted };
}

const interrupted =
  "The worker was restarted while this command ran: it did not finish, and how far it came is unknown. Check before running it again.";
