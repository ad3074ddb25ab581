// Changes one cell of a Jupyter notebook.
import { cellEdit } from "../patch/proposed.ts";
import { editReport } from "./edit-report.ts";
import { builtIn } from "./tool.ts";

export const editNotebook = builtIn({
  name: "edit_notebook",
  description: "Replace, insert or delete one cell of a Jupyter notebook. The rest of the file stays as it is.",
  onResume: "once",
  parallel: false,
  async run(args, { workspace }) {
    const startedAt = performance.now();
    const result = await workspace.edit({ edits: [cellEdit(args)] });
    return editReport(result, performance.now() - startedAt);
  },
});
