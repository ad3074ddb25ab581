// Reads lines of a text file, numbered.
import { truncateForModel } from "../output.ts";
import { builtIn, completed, failed } from "./tool.ts";

export const readFile = builtIn({
  name: "read_file",
  description: "Read a text file of the workspace with line numbers.",
  onResume: "rerun",
  parallel: true,
  async run(args, context) {
    const offset = wholeAtLeastOne(args.offset ?? 1);
    const limit = wholeAtLeastOne(args.limit ?? 2_000);
    const [file] = (await context.workspace.read({ files: [{ path: args.path, as: "lines", offset, limit }] })).files;
    if (!file || file.kind === "fault") return failed(file?.message ?? `${args.path} could not be read`);
    if (file.kind !== "lines") return failed(`${args.path} could not be read as text`);
    const numbered = file.lines.map((line, index) => `${file.firstLine + index}: ${line}`).join("\n");
    const last = file.firstLine + file.lines.length - 1;
    const more =
      last < file.totalLines ? `\n[${file.totalLines - last} more lines; read on with offset ${last + 1}]` : "";
    return completed(
      truncateForModel(file.lines.length > 0 ? numbered + more : emptyRange(file.totalLines), context.outputTokens),
    );
  },
});

const emptyRange = (total: number): string =>
  total === 0 ? "[the file is empty]" : `[the file has ${total} lines, none in that range]`;

export const wholeAtLeastOne = (value: number): number => Math.max(1, Math.floor(value));
