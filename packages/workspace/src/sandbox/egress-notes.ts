// Adds a note to the output of a command whose connections were refused, with the rule: a bare 403 makes agents look for ways around it.
import type { Chunk, ExecResult } from "@agentcli/protocol";
import { addNote, type NotedResult } from "../client/index.ts";
import type { Denial } from "../egress/index.ts";
import type { OpenedWorkspace } from "../lifecycle/index.ts";

export interface RefusedConnections {
  /** Also those that were made around the proxy: the kernel counts them, and has no route for them. */
  countUnroutable(): Promise<number>;
  onDenied(denial: Denial): void;
}

export interface EgressNotes {
  /** For the proxy. */
  onDenied(denial: Denial): void;
  add(workspace: OpenedWorkspace, countUnroutable: RefusedConnections["countUnroutable"]): OpenedWorkspace;
}

const maxReasons = 3;
const maxReasonLength = 400;
/** Of one command. A program that asks for names without end must not fill the memory of the server. */
const maxKept = 1000;

export function openEgressNotes(onDenied: (denial: Denial) => void): EgressNotes {
  let reasons = new Set<string>();
  const take = (denial: Denial) => {
    if (reasons.size < maxKept) reasons.add(sentenceOf(denial));
    onDenied(denial);
  };
  return {
    onDenied: take,
    add: (workspace, countUnroutable) =>
      addNotes(workspace, {
        countUnroutable,
        onDenied: take,
        takeReasons() {
          const taken = [...reasons];
          reasons = new Set();
          return taken;
        },
      }),
  };
}

function addNotes(
  workspace: OpenedWorkspace,
  { countUnroutable, onDenied, takeReasons }: RefusedConnections & { takeReasons(): string[] },
): OpenedWorkspace {
  const noted = new Map<string, NotedResult>();
  let counted = 0;

  async function addEgressNote(id: string, result: ExecResult): Promise<{ result: ExecResult; note?: Chunk }> {
    if (result.state !== "exited") return { result };
    const existing = noted.get(id);
    if (existing !== undefined) return existing;
    const count = await countUnroutable();
    if (count > counted) onDenied(withoutRoute(count - counted));
    counted = Math.max(count, counted);
    const reasons = takeReasons();
    if (reasons.length === 0) return { result };
    const fresh = addNote(result, describe(reasons));
    noted.set(id, fresh);
    return fresh;
  }

  return {
    ...workspace,
    async exec(request, onChunk, signal) {
      const { result, note } = await addEgressNote(request.id, await workspace.exec(request, onChunk, signal));
      if (note !== undefined && note.seq > (request.afterSeq ?? 0)) onChunk(note);
      return result;
    },
    async release(ids) {
      await workspace.release(ids);
      for (const id of ids.length === 0 ? [...noted.keys()] : ids) noted.delete(id);
    },
  };
}

const withoutRoute = (count: number): Denial => ({
  host: "address without the proxy",
  port: 0,
  by: "policy",
  rule: "no route but the proxy",
  reason: `${count} ${count === 1 ? "packet" : "packets"} to addresses outside or to a name server had no way out: there is none but the proxy (HTTP_PROXY, HTTPS_PROXY, ALL_PROXY), and none for UDP.`,
});

/** The process without its id: a loop of commands is one reason. */
function sentenceOf({ reason, process }: Denial): string {
  const by = process === undefined ? "" : ` of ${process.replace(/ \(\d+\)$/, "")}`;
  return `The network rules refused a connection${by}: ${reason.slice(0, maxReasonLength)}`;
}

function describe(reasons: string[]): string {
  const shown = reasons.slice(0, maxReasons);
  const more = reasons.length - shown.length;
  return `${[...shown, ...(more > 0 ? [`${reasons.length < maxKept ? "" : "At least "}${more} more were refused.`] : [])].join("\n")}\n`;
}
