// The report on a process that the model receives: how it ended, which limit it met, and where the rest of its output is.
import type { ExecResult, OutputFile, Part } from "@agentcli/protocol";
import { cutForModel, type OutputCollector, type OutputSize } from "../output.ts";
import { textPart } from "../state/messages.ts";
import { bytesOf, estimateBytes } from "../state/tokens.ts";
import type { ToolContext } from "./tool.ts";

export type ProcessResult = Extract<ExecResult, { state: "running" | "exited" }>;

export interface Report {
  context: ToolContext;
  key: string;
  output: OutputCollector;
  result: ProcessResult;
  sessionId: number;
  /** Of the call. */
  durationMs: number;
  /** How long the call was to wait, and could have. */
  wait: { ms: number; maxMs: number };
  maxTokens: number | undefined;
}

export const maxPollMs = 300_000;

export function processReport(report: Report): Part[] {
  const { context, result, output, durationMs } = report;
  const running = result.state === "running";
  const size = output.size();
  const { text, shown } = cutForModel(output.text(), maxTokensOf(context, report.maxTokens), size);
  return [
    textPart(
      [
        `Chunk ID: ${shortHash(`${context.state.threadId}:${report.key}`)}`,
        `Wall time: ${(durationMs / 1000).toFixed(4)} seconds`,
        running ? `Process running with session ID ${report.sessionId}` : `Process exited with code ${result.exitCode}`,
        ...describeLimit(report),
        `Original token count: ${estimateBytes(size.bytes)}`,
        ...(shown ? [describeCut({ size, shown, file: result.outputFile }, ofProcess)] : []),
        "Output:",
        text,
      ].join("\n"),
    ),
  ];
}

const maxTokensOf = ({ outputTokens }: ToolContext, requested: number | undefined): number =>
  Math.max(1, Math.min(requested ?? outputTokens, outputTokens));

/** Output that would be cut is kept in a file. */
export const fileAfterBytes = (context: ToolContext, maxTokens: number | undefined): number =>
  Math.floor(bytesOf(maxTokensOf(context, maxTokens)));

function describeLimit({ context: { toolTimeoutMs }, result, sessionId, wait }: Report): string[] {
  if (result.state === "running")
    return [
      `Still running after yield_time_ms (${wait.ms}, at most ${wait.maxMs}). To wait longer, use write_stdin with session_id ${sessionId}, empty chars and yield_time_ms up to ${maxPollMs}.${toolTimeoutMs === null ? "" : ` It is ended after ${seconds(toolTimeoutMs)} in all.`}`,
    ];
  return result.timedOut ? [describeTimeout(result.durationMs, toolTimeoutMs)] : [];
}

/** Only the user can raise it, so the sentence names what to do without. */
export const describeTimeout = (durationMs: number, toolTimeoutMs: number | null): string =>
  `The command reached the time limit for tools and was ended: it ran for ${seconds(durationMs)}, the limit is ${seconds(toolTimeoutMs ?? durationMs)} (limits.tool). Run less at once; only the user can raise the limit, for example with -c limits.tool=${raised(toolTimeoutMs ?? durationMs)}.`;

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} seconds`;
const raised = (ms: number): string => `${Math.max(1, Math.ceil((2 * ms) / 60_000))}m`;

const ofProcess: CutWords = {
  whole: "All output of this process",
  remedy: "run it again with its output in a file",
};

export interface Cut {
  size: OutputSize;
  shown: { first: number; last: number };
  /** Where the whole output is; undefined if it was not kept. */
  file: OutputFile | undefined;
}

export interface CutWords {
  whole: string;
  /** What to do if it was not kept. */
  remedy: string;
}

export function describeCut({ size, shown, file }: Cut, { whole, remedy }: CutWords): string {
  const sizes = `Output size: ${count(size.lines)} ${lineWord(size.lines)}, ${volume(size.bytes)}; the first ${count(shown.first)} and the last ${count(shown.last)} lines are shown.`;
  if (file === undefined) return `${sizes} The rest was not kept: ${remedy}.`;
  const kept = file.isWhole ? whole : `The first ${volume(file.bytes)}`;
  return `${sizes} ${kept} is in ${file.path}: read it with read_file (offset, limit) or grep_files.`;
}

const count = (value: number): string => value.toLocaleString("en-US");
export const lineWord = (count: number): string => (count === 1 ? "line" : "lines");

function volume(bytes: number): string {
  if (bytes < 1000) return `${bytes} bytes`;
  return bytes < 1_000_000 ? `${(bytes / 1000).toFixed(1)} kB` : `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Six hex digits (FNV-1a): enough to tell two reports apart. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 8).toString(16).padStart(6, "0");
}
