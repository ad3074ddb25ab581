// Results of calls in the shapes of a run's stream.

import type { Json } from "@agentcli/engine";
import type { Outcome } from "@agentcli/protocol";
import type { ToolCall } from "@agentcli/protocol/api";
import { cut, textOf, todos } from "./frames.ts";

export interface ResultOptions {
  toolCall?: ToolCall;
  /** Of an edit. */
  diff?: string;
}

export function resultOf({ toolCall: call, diff }: ResultOptions, outcome: Outcome): unknown {
  const { detail } = outcome;
  const text = textOf(outcome);
  switch (call?.type) {
    case "shell":
      return shellValue(outcome);
    case "write":
      return {
        path: call.args.path,
        linesCreated: linesOf(call.args.fileText),
        fileSize: Buffer.byteLength(call.args.fileText),
      };
    case "delete":
      return { fileSize: 0 };
    case "edit":
      return editValue(diff ?? "");
    case "read": {
      const content = unnumbered(text);
      return { content: cut(content), totalLines: linesOf(content), fileSize: Buffer.byteLength(content) };
    }
    case "ls":
      return { directoryTreeRoot: directory(call.args.path, text) };
    case "grep":
      return { workspaceResults: { ".": found(text) } };
    case "updateTodos": {
      const steps = detail.kind === "plan" ? todos(detail.steps) : call.args.todos;
      return { todos: steps, totalCount: steps.length };
    }
    case "task":
      return taskValue(outcome);
    case "mcp":
      return mcpValue(outcome);
    default:
      return { text: cut(text) };
  }
}

function editValue(diff: string) {
  const starting = (sign: string) => diff.split("\n").filter((line) => line.startsWith(sign)).length;
  return diff === "" ? {} : { linesAdded: starting("+"), linesRemoved: starting("-"), diffString: cut(diff) };
}

function shellValue({ detail }: Outcome) {
  const ran = detail.kind === "command" ? detail : { output: "", exitCode: null, durationMs: 0 };
  return {
    exitCode: ran.exitCode ?? 0,
    signal: "",
    stdout: cut(ran.output),
    stderr: "",
    executionTime: Math.round(ran.durationMs),
  };
}

function taskValue({ detail }: Outcome) {
  const [agentId] = detail.kind === "agents" ? Object.keys(detail.agents) : [];
  return { ...(agentId && { agentId }), isBackground: true, backgroundReason: "agentRequest" };
}

function mcpValue({ detail }: Outcome) {
  const result = detail.kind === "mcp" ? detail.result : null;
  const isError = detail.kind !== "mcp" || detail.error !== null;
  return { content: (result?.content ?? []).flatMap(mcpPart), isError };
}

type McpPart = { text: { text: string } } | { image: { data: string; mimeType?: string } };

function mcpPart(part: Json): McpPart[] {
  const { type, text, data, mimeType } = part as { type?: string; text?: string; data?: string; mimeType?: string };
  if (type === "text") return [{ text: { text: cut(text ?? "") } }];
  if (type === "image" && data !== undefined) return [{ image: { data, ...(mimeType && { mimeType }) } }];
  return [];
}

/** Matches in the output of grep_files: `path:line: text`. */
function found(text: string): Json {
  const matches = text.split("\n").flatMap((line) => {
    const match = /^(.+?):(\d+): (.*)$/.exec(line);
    return match?.[1] ? [{ file: match[1], lineNumber: Number(match[2]), line: match[3] ?? "" }] : [];
  });
  return { type: "content", output: { matches, totalMatches: matches.length } };
}

/** Entries in the output of list_dir; directories end with a slash. */
function directory(path: string, text: string): Json {
  const entries = text.split("\n").filter((line) => line !== "" && !line.startsWith("["));
  const isFolder = (entry: string) => entry.endsWith("/");
  const files = entries.filter((entry) => !isFolder(entry)).map((name) => ({ name: name.replace(/[@?]$/, "") }));
  return {
    ...emptyDirectory(path),
    childrenDirs: entries.filter(isFolder).map((entry) => emptyDirectory(`${path}/${entry.slice(0, -1)}`)),
    childrenFiles: files,
    childrenWereProcessed: true,
    numFiles: files.length,
  };
}

const emptyDirectory = (absPath: string) => ({
  absPath,
  childrenDirs: [],
  childrenFiles: [],
  childrenWereProcessed: false,
  fullSubtreeExtensionCounts: {},
  numFiles: 0,
});

const linesOf = (text: string): number => (text === "" ? 0 : text.replace(/\n$/, "").split("\n").length);
const unnumbered = (text: string): string => text.replaceAll(/^\d+: /gm, "");
