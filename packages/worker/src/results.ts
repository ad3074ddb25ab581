// The results of finished commands, on disk: a worker that was killed and started again still has those that the platform may
// not have read. Kept until the next run of the agent, or the end of the sandbox.
import { appendFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Chunk, ExecResult } from "@agentcli/protocol";
import type { OpenedWorkspace } from "@agentcli/workspace";

interface Finished {
  result: ExecResult;
  chunks: Chunk[];
}

/** What is known of one sandbox. */
export interface KeptResults {
  incarnation: string;
  finished: Map<string, Finished>;
}

export interface ResultFiles {
  /** Of a sandbox whose every command had finished; null if there is none, or the outcome of one is not known. */
  read(agent: string, key: string): KeptResults | null;
  /** What earlier runs of the agent left is forgotten; what this run has stays, also if the worker was killed meanwhile. */
  beginRun(agent: string, runId: string): void;
  /** The workspace, whose finished commands are written down, and those of its incarnation answered from there. */
  keep(workspace: OpenedWorkspace, sandbox: SandboxName): OpenedWorkspace;
  /** Of all sandboxes of the agent. */
  forget(agent: string): void;
}

export interface SandboxName {
  agent: string;
  key: string;
}

type Entry = { incarnation: string } | { begun: string } | { id: string; result: ExecResult; chunks: Chunk[] };

/** Of one command. What is longer is not kept, and its outcome is not known after a restart. */
const maxOutputBytes = 1024 * 1024;
/** Of one sandbox. */
const maxCommands = 1_000;

export function openResultFiles(dataDirectory: string): ResultFiles {
  const directoryOf = (agent: string) => join(dataDirectory, "agents", agent, "results");
  const fileOf = ({ agent, key }: SandboxName) =>
    join(directoryOf(agent), `${Buffer.from(key).toString("base64url")}.jsonl`);
  return {
    read: (agent, key) => readResults(fileOf({ agent, key })),
    forget: (agent) => rmSync(directoryOf(agent), { recursive: true, force: true }),
    beginRun(agent, runId) {
      const file = join(dataDirectory, "agents", agent, "run");
      if (readText(file) !== runId) rmSync(directoryOf(agent), { recursive: true, force: true });
      writeFileSync(file, runId, { mode: 0o600 });
    },
    keep(workspace, sandbox) {
      const kept = readResults(fileOf(sandbox));
      const known = kept?.incarnation === workspace.incarnation ? kept : null;
      mkdirSync(directoryOf(sandbox.agent), { recursive: true, mode: 0o700 });
      const file = fileOf(sandbox);
      if (known === null) rmSync(file, { force: true });
      const write = (entry: Entry) => appendFileSync(file, `${JSON.stringify(entry)}\n`, { mode: 0o600 });
      if (known === null) write({ incarnation: workspace.incarnation });
      return withResults(workspace, known?.finished ?? new Map(), write);
    },
  };
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}

function readResults(file: string): KeptResults | null {
  let incarnation: string | null = null;
  const finished = new Map<string, Finished>();
  const begun = new Set<string>();
  try {
    // The last line may be incomplete: then its command has no known outcome.
    for (const line of readText(file).split("\n").slice(0, -1)) {
      const entry = JSON.parse(line) as Entry;
      if ("incarnation" in entry) incarnation = entry.incarnation;
      else if ("begun" in entry) begun.add(entry.begun);
      else finished.set(entry.id, { result: entry.result, chunks: entry.chunks });
    }
  } catch {
    return null;
  }
  const isWhole = [...begun].every((id) => finished.has(id));
  return incarnation !== null && isWhole ? { incarnation, finished } : null;
}

function withResults(
  workspace: OpenedWorkspace,
  finished: Map<string, Finished>,
  write: (entry: Entry) => void,
): OpenedWorkspace {
  const begun = new Set<string>();
  return {
    ...workspace,
    async exec(request, onChunk, signal) {
      const known = finished.get(request.id);
      if (known !== undefined) {
        for (const chunk of known.chunks) if (chunk.seq > (request.afterSeq ?? 0)) onChunk(chunk);
        return known.result;
      }
      const isFirst = request.start !== undefined && !begun.has(request.id) && begun.size < maxCommands;
      if (isFirst) {
        begun.add(request.id);
        write({ begun: request.id });
      }
      const chunks: Chunk[] = [];
      let bytes = 0;
      const collect = (chunk: Chunk): void => {
        bytes += chunk.text.length;
        if (isFirst && bytes <= maxOutputBytes) chunks.push(chunk);
        onChunk(chunk);
      };
      const result = await workspace.exec(request, collect, signal);
      const isKept = isFirst && result.state !== "running" && bytes <= maxOutputBytes;
      if (isKept) write({ id: request.id, result, chunks });
      return result;
    },
  };
}
