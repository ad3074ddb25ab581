// The names of MCP tools for the model: letters, digits and underscores, at most 128 characters, unique.
import { createHash } from "node:crypto";
import type { McpOrigin } from "@agentcli/protocol";

const maxNameLength = 128;

/** In the same order. Names that are too long or not unique end with a hash of server and tool. */
export function nameTools(origins: McpOrigin[]): string[] {
  const plain = origins.map(({ server, tool }) => `mcp__${cleaned(server)}__${cleaned(tool)}`);
  const counts = new Map<string, number>();
  for (const name of plain) counts.set(name, (counts.get(name) ?? 0) + 1);
  return origins.map((origin, index) => {
    const name = plain[index] ?? "";
    const fits = name.length <= maxNameLength && counts.get(name) === 1;
    return fits ? name : withHash(name, origin);
  });
}

function withHash(name: string, { server, tool }: McpOrigin): string {
  const hash = createHash("sha256").update(`${server}\0${tool}`).digest("hex").slice(0, 12);
  return `${name.slice(0, maxNameLength - hash.length - 1)}_${hash}`;
}

const cleaned = (text: string): string => text.replace(/[^A-Za-z0-9_]/g, "_");
