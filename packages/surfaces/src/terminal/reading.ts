// Calls that only read, as one line each.
import type { ItemOf } from "@agentcli/protocol";

export function readingLine({ tool, arguments: args, status, error }: ItemOf<"mcp_tool_call">): string {
  const failure = status === "completed" ? "" : ` (${status}: ${firstLine(error?.message ?? "")})`;
  return `${describe(tool, (args ?? {}) as Record<string, unknown>)}${failure}`;
}

function describe(tool: string, args: Record<string, unknown>): string {
  const text = (name: string) => (args[name] === undefined ? "" : String(args[name]));
  const where = text("path") && text("path") !== "." ? ` in ${text("path")}` : "";
  switch (tool) {
    case "read_file":
      return `read ${files(args)}${range(args)}`;
    case "list_dir":
      return `list ${text("path") || "."}`;
    case "grep_files":
      return `search ${text("pattern")}${where}${text("include") && ` (${text("include")})`}`;
    default:
      return `${tool} ${text("pattern") || text("path")}${text("pattern") ? where : ""}`;
  }
}

/** One path, or several of one call. */
function files({ path, paths, files: list }: Record<string, unknown>): string {
  const named = [path, ...(Array.isArray(paths) ? paths : []), ...(Array.isArray(list) ? list : [])];
  const names = named.map((entry) => (isRecord(entry) ? entry.path : entry)).filter((entry) => entry !== undefined);
  return names.map(String).join(", ");
}

const isRecord = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;

function range({ offset, limit }: Record<string, unknown>): string {
  if (offset === undefined && limit === undefined) return "";
  const start = Number(offset ?? 1);
  return limit === undefined ? ` from line ${start}` : ` lines ${start}-${start + Number(limit) - 1}`;
}

const firstLine = (text: string): string => text.split("\n", 1)[0] ?? "";
