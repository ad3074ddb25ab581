// Replaces an exact text in a file, for models that are not trained to write patches.
import { stringEdit } from "../patch/proposed.ts";
import { editReport } from "./edit-report.ts";
import { builtIn } from "./tool.ts";

export const editFile = {
  ...builtIn({
    name: "edit_file",
    description:
      "Replace text in a file. old_string must match exactly, and once unless replace_all or expected_count is set. An empty old_string creates a new file.",
    onResume: "once",
    parallel: false,
    async run(args, { workspace }) {
      const startedAt = performance.now();
      const result = await workspace.edit({ edits: [stringEdit(args)] });
      return editReport(result, performance.now() - startedAt);
    },
  }),
  forStringEdits: true,
};
