// What the built-in tools do, by name. Loaded with the first call.
import type { Outcome, ToolArguments, ToolName } from "@agentcli/protocol";
import { closeAgent, resumeAgent, sendInput, spawnAgent, waitAgent } from "./agents.ts";
import { editFile } from "./edit-file.ts";
import { editNotebook } from "./edit-notebook.ts";
import { execCommand } from "./exec-command.ts";
import { glob } from "./glob.ts";
import { grepFiles } from "./grep-files.ts";
import { listDir } from "./list-dir.ts";
import { readFile } from "./read-file.ts";
import { requestUserInput } from "./request-user-input.ts";
import { killSession, listSessions } from "./sessions.ts";
import type { ToolContext } from "./tool.ts";
import { updatePlan } from "./update-plan.ts";
import { viewImage } from "./view-image.ts";
import { writeStdin } from "./write-stdin.ts";

/** A patch has a form of its own. */
export type BuiltInName = Exclude<ToolName, "apply_patch">;

type Actions = { [Name in BuiltInName]: (args: ToolArguments[Name], context: ToolContext) => Promise<Outcome> };

const actions: Actions = {
  exec_command: execCommand,
  write_stdin: writeStdin,
  list_sessions: listSessions,
  kill_session: killSession,
  edit_file: editFile,
  edit_notebook: editNotebook,
  read_file: readFile,
  list_dir: listDir,
  grep_files: grepFiles,
  glob,
  view_image: viewImage,
  update_plan: updatePlan,
  request_user_input: requestUserInput,
  spawn_agent: spawnAgent,
  send_input: sendInput,
  wait_agent: waitAgent,
  close_agent: closeAgent,
  resume_agent: resumeAgent,
};

/** The arguments have been checked against the schema of the tool. */
export const act = (name: BuiltInName, args: unknown, context: ToolContext): Promise<Outcome> =>
  (actions[name] as (args: unknown, context: ToolContext) => Promise<Outcome>)(args, context);
