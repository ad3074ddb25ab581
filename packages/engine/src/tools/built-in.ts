// The tools every thread has, as the model is offered them. What they do is in `actions.ts`.
import { applyPatch } from "./apply-patch.ts";
import { builtIn } from "./offer.ts";
import type { Tool } from "./tool.ts";

export const builtInTools: Tool[] = [
  builtIn({
    name: "exec_command",
    description:
      "Run a shell command in the workspace. Returns its output and exit code, or a session id if it is still running after yield_time_ms (10 seconds by default, at most 30); use write_stdin with that id to wait up to 5 minutes, send input or interrupt. A command is ended after 10 minutes unless the user has configured another limit. Output beyond max_output_tokens is kept in a file that the answer names.",
    onResume: "once",
    parallel: true,
  }),
  builtIn({
    name: "write_stdin",
    description: "Send characters to a command that is still running, or wait for its output with empty chars.",
    onResume: "once",
    parallel: false,
  }),
  builtIn({
    name: "list_sessions",
    description: "List the commands that are still running in the background, with their session ids.",
    onResume: "rerun",
    parallel: true,
  }),
  builtIn({
    name: "kill_session",
    description: "End a command that is still running in the background, and read the rest of its output.",
    onResume: "once",
    parallel: false,
  }),
  applyPatch,
  {
    ...builtIn({
      name: "edit_file",
      description:
        "Replace text in a file. old_string must match exactly, and once unless replace_all or expected_count is set. An empty old_string creates a new file.",
      onResume: "once",
      parallel: false,
    }),
    forStringEdits: true,
  },
  builtIn({
    name: "edit_notebook",
    description: "Replace, insert or delete one cell of a Jupyter notebook. The rest of the file stays as it is.",
    onResume: "once",
    parallel: false,
  }),
  builtIn({
    name: "read_file",
    description:
      "Read text files of the workspace with line numbers: one path, or several files and ranges in one call.",
    onResume: "rerun",
    parallel: true,
  }),
  builtIn({
    name: "list_dir",
    description:
      "List a directory of the workspace without what git ignores. Directories end with /, links with @. Beyond the limit every directory gets a share.",
    onResume: "rerun",
    parallel: true,
  }),
  builtIn({
    name: "grep_files",
    description:
      "Search files of the workspace for a regular expression. Answers path:line: text, and path-line- text for context. Files ignored by git are left out.",
    onResume: "rerun",
    parallel: true,
  }),
  builtIn({
    name: "glob",
    description: "Find files of the workspace by a glob, sorted by path. Files ignored by git are left out.",
    onResume: "rerun",
    parallel: true,
  }),
  builtIn({
    name: "view_image",
    description: "Look at an image file (PNG, JPEG, GIF or WebP) in the workspace.",
    onResume: "rerun",
    parallel: true,
  }),
  builtIn({
    name: "update_plan",
    description: "Show or update your plan as a list of steps. At most one step is in_progress.",
    onResume: "rerun",
    parallel: false,
  }),
];

/** Offered only if a user is present. */
export const requestUserInput = builtIn({
  name: "request_user_input",
  description:
    "Ask the user one to three short questions and wait for the answers. Only when you cannot go on without.",
  onResume: "rerun",
  parallel: false,
});
