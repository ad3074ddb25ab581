// Lists a directory of the workspace.
import { truncateForModel } from "../output.ts";
import { wholeAtLeastOne } from "./read-file.ts";
import { builtIn, completed, failed } from "./tool.ts";

export const listDir = builtIn({
  name: "list_dir",
  description: "List a directory of the workspace. Directories end with /, links with @.",
  onResume: "rerun",
  parallel: true,
  async run(args, context) {
    const result = await context.workspace.list({
      path: args.path,
      depth: wholeAtLeastOne(args.depth ?? 1),
      limit: wholeAtLeastOne(args.limit ?? 500),
    });
    if (result.kind === "fault") return failed(result.message);
    const lines = result.entries.map((entry) => `${entry.path}${suffix[entry.kind]}`);
    if (result.cut) lines.push("[more entries left out; list a subdirectory or raise limit]");
    return completed(truncateForModel(lines.join("\n") || "[the directory is empty]", context.outputTokens));
  },
});

const suffix = { directory: "/", symlink: "@", file: "", other: "?" };
