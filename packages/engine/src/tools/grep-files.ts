// Searches the files of the workspace for a regular expression.
import { truncateForModel } from "../output.ts";
import { wholeAtLeastOne } from "./read-file.ts";
import { builtIn, completed, failed } from "./tool.ts";

export const grepFiles = builtIn({
  name: "grep_files",
  description: "Search files of the workspace for a regular expression. Answers path:line: text.",
  onResume: "rerun",
  parallel: true,
  async run(args, context) {
    const result = await context.workspace.search({
      pattern: args.pattern,
      path: args.path ?? ".",
      include: args.include,
      limit: wholeAtLeastOne(args.limit ?? 200),
    });
    if (result.kind === "fault") return failed(result.message);
    const lines = result.matches.map((match) => `${match.path}:${match.line}: ${match.text}`);
    if (result.cut) lines.push("[more matches left out; narrow the pattern or raise limit]");
    return completed(truncateForModel(lines.join("\n") || "[no matches]", context.outputTokens));
  },
});
