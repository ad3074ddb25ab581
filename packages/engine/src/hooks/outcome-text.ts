// What a call came to, as hooks are told.
import type { Outcome } from "@agentcli/protocol";

export const textOf = ({ parts }: Outcome): string =>
  parts.map((part) => (part.type === "text" ? part.text : "[image]")).join("\n");

/** The result as the server gave it; null for other tools, and where there is none. */
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
