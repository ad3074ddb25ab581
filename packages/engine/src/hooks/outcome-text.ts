// The outcome of a call as hook payloads show it.
import type { Outcome } from "@agentcli/protocol";

export const outcomeText = ({ parts }: Outcome): string =>
  parts.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");

/** The result as the server returned it; null for other tools, and if there is none. */
export function mcpResult({ detail, status }: Outcome): object | null {
  if (detail.kind !== "mcp" || detail.result === null) return null;
  const { content, structuredContent, meta } = detail.result;
  return {
    content,
    ...(structuredContent !== null && { structuredContent }),
    isError: status === "failed",
    ...(meta !== undefined && { _meta: meta }),
  };
}
