// The report on a process that the model receives.
import type { Part } from "@agentcli/protocol";
import { truncateForModel } from "../output.ts";
import { textPart } from "../state/messages.ts";
import { estimateText } from "../state/tokens.ts";
import type { ToolContext } from "./tool.ts";

interface Report {
  context: ToolContext;
  key: string;
  output: string;
  exitCode: number | null;
  sessionId: number | undefined;
  durationMs: number;
  maxTokens: number | undefined;
}

export function processReport(report: Report): Part[] {
  const maxTokens = Math.max(1, Math.min(report.maxTokens ?? report.context.outputTokens, report.context.outputTokens));
  const state =
    report.sessionId === undefined
      ? `Process exited with code ${report.exitCode}`
      : `Process running with session ID ${report.sessionId}`;
  return [
    textPart(
      [
        `Chunk ID: ${shortHash(`${report.context.state.threadId}:${report.key}`)}`,
        `Wall time: ${(report.durationMs / 1000).toFixed(4)} seconds`,
        state,
        `Original token count: ${estimateText(report.output)}`,
        "Output:",
        truncateForModel(report.output, maxTokens),
      ].join("\n"),
    ),
  ];
}

/** Six hex digits (FNV-1a): enough to tell two reports apart. */
function shortHash(text: string): string {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  return (hash >>> 8).toString(16).padStart(6, "0");
}
