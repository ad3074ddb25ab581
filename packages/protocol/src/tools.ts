// Arguments of the tools the model sees. Their JSON Schema is what the model reads.
import { z } from "zod";

const AgentInput = z.strictObject({
  type: z.enum(["text", "image", "local_image", "skill", "mention"]),
  text: z.string().optional(),
  image_url: z.string().optional(),
  path: z.string().optional(),
  name: z.string().optional(),
});

export const toolArguments = {
  exec_command: z.strictObject({
    cmd: z.string().describe("Shell command to run."),
    workdir: z.string().optional().describe("Working directory; the workspace root unless given."),
    tty: z.boolean().optional().describe("Run on a terminal. Only for programs that need one."),
    yield_time_ms: z
      .number()
      .optional()
      .describe("Return after this long even if still running (250 to 30000; 10000)."),
    max_output_tokens: z.number().optional().describe("Cut the output in the middle beyond this (10000)."),
    shell: z.string().optional().describe("Shell to use instead of the user's."),
    login: z.boolean().optional().describe("Use the login environment (true)."),
    sandbox_permissions: z
      .enum(["use_default", "require_escalated"])
      .optional()
      .describe("require_escalated asks to run outside the sandbox."),
    justification: z.string().optional().describe("Why escalation is needed, one sentence."),
    prefix_rule: z.array(z.string()).optional().describe("Command prefix to allow from now on."),
  }),
  write_stdin: z.strictObject({
    session_id: z.number().describe("The session of a command that is still running."),
    chars: z.string().optional().describe("What to write; empty only polls. \\u0003 interrupts."),
    yield_time_ms: z.number().optional().describe("How long to wait for output."),
    max_output_tokens: z.number().optional(),
  }),
  list_sessions: z.strictObject({}),
  kill_session: z.strictObject({
    session_id: z.number().describe("The session of a command that is still running."),
  }),
  apply_patch: z.strictObject({
    input: z.string().describe("The whole patch, from *** Begin Patch to *** End Patch."),
  }),
  edit_file: z.strictObject({
    path: z.string(),
    old_string: z.string().describe("Text to replace, exactly as in the file. Empty to create a new file."),
    new_string: z.string(),
    replace_all: z.boolean().optional().describe("Replace every occurrence; otherwise there must be exactly one."),
    expected_count: z.number().optional().describe("Replace all if there are exactly this many."),
  }),
  edit_notebook: z.strictObject({
    path: z.string().describe("A Jupyter notebook (.ipynb)."),
    action: z.enum(["replace", "insert", "delete"]),
    cell: z
      .union([z.number(), z.string()])
      .optional()
      .describe("Index from 0, or id. A new cell gets this index, comes after this id, or at the end."),
    source: z.string().optional().describe("New source of the cell."),
    cell_type: z.enum(["code", "markdown", "raw"]).optional(),
  }),
  update_plan: z.strictObject({
    explanation: z.string().optional(),
    plan: z.array(z.strictObject({ step: z.string(), status: z.enum(["pending", "in_progress", "completed"]) })),
  }),
  request_user_input: z.strictObject({
    questions: z.array(
      z.strictObject({
        id: z.string().describe("A name for the question, in snake case."),
        header: z.string().describe("A few words above it."),
        question: z.string().describe("One sentence."),
        options: z
          .array(z.strictObject({ label: z.string(), description: z.string() }))
          .describe("Two or three answers to choose from; the user may give another."),
      }),
    ),
  }),
  view_image: z.strictObject({
    path: z.string().describe("Image file in the workspace."),
    detail: z.enum(["high", "original"]).optional(),
  }),
  read_file: z.strictObject({
    path: z.string().optional(),
    offset: z.number().optional().describe("First line, from 1."),
    limit: z.number().optional().describe("Number of lines (2000)."),
    files: z
      .array(z.strictObject({ path: z.string(), offset: z.number().optional(), limit: z.number().optional() }))
      .optional()
      .describe("Several files, or ranges of one, instead of path."),
  }),
  list_dir: z.strictObject({
    path: z.string(),
    depth: z.number().optional().describe("Levels below the directory (1)."),
    limit: z.number().optional().describe("Most entries (500)."),
  }),
  grep_files: z.strictObject({
    pattern: z.string().describe("Regular expression."),
    path: z.string().optional(),
    include: z.string().optional().describe("Glob of file paths."),
    limit: z.number().optional().describe("Most matches (200)."),
    type: z.string().optional().describe("Type or extension of files, such as ts, py or go."),
    context: z.number().optional().describe("Lines to show before and after each match (0)."),
    files_only: z.boolean().optional().describe("Only the paths of files with a match."),
  }),
  glob: z.strictObject({
    pattern: z.string().describe("Such as **/*.test.ts; without a slash it judges file names."),
    path: z.string().optional().describe("Directory to search."),
    limit: z.number().optional().describe("Most files (500)."),
  }),
  spawn_agent: z.strictObject({
    message: z.string().optional().describe("The task, complete in itself."),
    items: z.array(AgentInput).optional(),
    agent_type: z.string().optional().describe("Role of the agent."),
    fork_context: z.boolean().optional().describe("Give it this conversation too."),
    model: z.string().optional(),
    reasoning_effort: z.string().optional(),
    service_tier: z.string().optional(),
  }),
  send_input: z.strictObject({
    target: z.string().describe("Id or nickname of the agent."),
    message: z.string().optional(),
    items: z.array(AgentInput).optional(),
    interrupt: z.boolean().optional().describe("Stop what it does now first."),
  }),
  wait_agent: z.strictObject({
    targets: z.array(z.string()).describe("Ids or nicknames; returns when one of these agents ends."),
    timeout_ms: z.number().optional().describe("10000 to 3600000 (30000)."),
  }),
  close_agent: z.strictObject({ target: z.string() }),
  resume_agent: z.strictObject({ id: z.string() }),
};
export type ToolName = keyof typeof toolArguments;
export type ToolArguments = { [Name in ToolName]: z.infer<(typeof toolArguments)[Name]> };
