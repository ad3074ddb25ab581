// Adds one line to the output of a command that met the sandbox: what is blocked here, and what works instead.
import { resolve } from "node:path";
import type { Chunk, ExecRequest, ExecResult } from "@agentcli/protocol";
import { addNote, type NotedResult } from "../../client/index.ts";
import type { OpenedWorkspace } from "../../lifecycle/index.ts";
import { type Confinement, explainRefusal } from "./explain.ts";
import { mayReport, type ReportedLine, readSymptom } from "./lines.ts";

interface Observed {
  directory: string;
  /** Whether the command itself sends errors to its output. */
  mergesErrors: boolean;
  lastSeq: number;
  /** The end of the last chunk of each stream, which may be the beginning of a line. */
  rests: Partial<Record<Chunk["stream"], string>>;
  lines: (ReportedLine & { stream: Chunk["stream"] })[];
  endsLine: boolean;
  noted?: NotedResult;
}

const maxLines = 50;
const maxLineLength = 2_000;

export function withRefusalNotes(workspace: OpenedWorkspace, confinement: Confinement): OpenedWorkspace {
  const observed = new Map<string, Observed>();

  function addRefusalNote(id: string, result: ExecResult): { result: ExecResult; note?: Chunk } {
    const process = observed.get(id);
    if (result.state !== "exited" || process === undefined) return { result };
    if (process.noted !== undefined) return process.noted;
    const lines = process.lines.concat(unfinishedLines(process)).filter(isError(process, result.exitCode));
    const { directory } = process;
    const text = lines.length > 0 && explainRefusal({ lines, directory, exitCode: result.exitCode }, confinement);
    if (!text) return { result };
    process.noted = addNote(result, `${process.endsLine ? "" : "\n"}${text}\n`);
    return process.noted;
  }

  return {
    ...workspace,
    async exec(request, onChunk, signal) {
      const process = observed.get(request.id) ?? startObserving(request, workspace.root);
      observed.set(request.id, process);
      const onObserved = (chunk: Chunk) => {
        observe(process, chunk);
        onChunk(chunk);
      };
      const { result, note } = addRefusalNote(request.id, await workspace.exec(request, onObserved, signal));
      if (note !== undefined && note.seq > (request.afterSeq ?? 0)) onChunk(note);
      return result;
    },
    async release(ids) {
      await workspace.release(ids);
      for (const id of ids.length === 0 ? [...observed.keys()] : ids) observed.delete(id);
    },
  };
}

const startObserving = ({ start }: ExecRequest, root: string): Observed => ({
  directory: resolve(root, start?.cwd ?? ".", firstDirectory(start?.argv ?? [])),
  mergesErrors: start?.argv.some((word) => /2>&1|&>|\|&/.test(word)) ?? false,
  lastSeq: 0,
  rests: {},
  lines: [],
  endsLine: true,
});

/** As in `cd DIRECTORY && …`: programs report paths relative to it. */
const firstDirectory = (argv: string[]): string =>
  argv.at(-1)?.match(/^\s*cd\s+(['"]?)([^'"&;|$\s]+)\1\s*(?:&&|;|\n)/)?.[2] ?? ".";

/** A chunk may come twice: when another call attaches to the process. */
function observe(process: Observed, { seq, stream, text }: Chunk): void {
  if (seq <= process.lastSeq || text === "") return;
  process.lastSeq = seq;
  process.endsLine = text.endsWith("\n");
  const whole = (process.rests[stream] ?? "") + text;
  const end = whole.lastIndexOf("\n") + 1;
  process.rests[stream] = whole.slice(end).slice(-maxLineLength);
  if (process.lines.length >= maxLines || !mayReport(whole)) return;
  for (const line of whole.slice(0, end).split("\n")) keepLine(process, stream, line);
}

function keepLine({ lines }: Observed, stream: Chunk["stream"], line: string): void {
  const found = readSymptom(line.slice(0, maxLineLength));
  if (found !== undefined && lines.length < maxLines) lines.push({ ...found, stream });
}

const unfinishedLines = ({ rests }: Observed): Observed["lines"] =>
  Object.entries(rests).flatMap(([stream, text]) => {
    const found = readSymptom(text);
    return found === undefined ? [] : { ...found, stream: stream as Chunk["stream"] };
  });

/** What a command prints on its output and succeeds is a text it found, unless its errors go there too. */
const isError =
  ({ mergesErrors }: Observed, exitCode: number) =>
  ({ stream }: Observed["lines"][number]) =>
    stream !== "stdout" || mergesErrors || exitCode !== 0;
