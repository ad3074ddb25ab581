// Searches the files of the workspace for a regular expression.
import type { Outcome, SearchResult, ToolArguments } from "@agentcli/protocol";
import { truncateForModel } from "../output.ts";
import { wholeAtLeastOne } from "./read-file.ts";
import { completed, failed, type ToolContext } from "./tool.ts";

export async function grepFiles(args: ToolArguments["grep_files"], context: ToolContext): Promise<Outcome> {
  const result = await context.workspace.search({
    pattern: args.pattern,
    path: args.path ?? ".",
    include: args.include,
    limit: wholeAtLeastOne(args.limit ?? 200),
    ...(args.type && { type: args.type }),
    ...(args.files_only && { filesOnly: true }),
    ...(args.context && { context: Math.min(maxContext, Math.max(0, Math.floor(args.context))) }),
  });
  if (result.kind === "fault") return failed(result.message);
  const lines = args.files_only ? result.matches.map(({ path }) => path) : matchLines(result.matches);
  if (result.cut) lines.push("[more matches left out; narrow the pattern or raise limit]");
  return completed(truncateForModel(lines.join("\n") || "[no matches]", context.outputTokens));
}

const maxContext = 50;

type Match = Extract<SearchResult, { kind: "matches" }>["matches"][number];

/** Groups of lines that are not next to each other are divided by two dashes, as grep does. */
function matchLines(matches: Match[]): string[] {
  const hasContext = matches.some(({ context }) => context);
  return matches.flatMap((match, index) => {
    const before = matches[index - 1];
    const follows = before === undefined || (before.path === match.path && before.line + 1 === match.line);
    const text = match.context
      ? `${match.path}-${match.line}- ${match.text}`
      : `${match.path}:${match.line}: ${match.text}`;
    return hasContext && !follows ? ["--", text] : [text];
  });
}
