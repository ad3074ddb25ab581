// A script yields tool calls and receives their results. Run again over the same results, it takes the same path.
import type { ToolArguments } from "@agentcli/protocol";
import {
  type CommandResult,
  type FileResult,
  type PatchResult,
  readCommandResult,
  readFileResult,
  readPatchResult,
} from "./results.ts";

type CallOf<Name extends keyof ToolArguments> = { name: Name; args: ToolArguments[Name]; activity: string };

/** A tool that a platform gives to the runs of automations. */
interface CommentCall {
  name: "mcp__platform__comment_on_pull_request";
  args: { number: number; body: string };
  activity: string;
}

export type PlannedCall =
  | CallOf<"exec_command">
  | CallOf<"write_stdin">
  | CallOf<"apply_patch">
  | CallOf<"read_file">
  | CommentCall;

export type Script<Result> = Generator<PlannedCall, Result, string>;

/** The result of one step, for the final message. */
export interface Report {
  outcome: "done" | "failed" | "stopped" | "skipped";
  text: string;
}

export const done = (text: string): Report => ({ outcome: "done", text });
export const failed = (text: string): Report => ({ outcome: "failed", text });

export function* runCommand(cmd: string): Script<CommandResult> {
  let result = readCommandResult(yield { name: "exec_command", args: { cmd }, activity: `running ${code(cmd)}` });
  let output = result.kind === "refused" ? "" : result.output;
  for (let polls = 0; result.kind === "running" && polls < maxPolls; polls++) {
    const args = { session_id: result.sessionId, yield_time_ms: 30_000 };
    result = readCommandResult(yield { name: "write_stdin", args, activity: `waiting for ${code(cmd)}` });
    output += result.kind === "refused" ? "" : result.output;
  }
  return result.kind === "refused" ? result : { ...result, output };
}

export function* readLines(path: string): Script<FileResult> {
  const lines: string[] = [];
  for (let pages = 0; pages < maxPages; pages++) {
    const args = lines.length > 0 ? { path, offset: lines.length + 1 } : { path };
    const text = yield { name: "read_file", args, activity: `reading ${code(path)}` };
    const page = readFileResult(text, lines.length + 1);
    if (page.kind === "refused") return page;
    lines.push(...page.lines);
    if (!page.more) return { ...page, lines };
  }
  return { kind: "refused", reason: `${path} has more than ${lines.length} lines, too many for the practice model.` };
}

export function* applyPatch(input: string, activity: string): Script<PatchResult> {
  return readPatchResult(yield { name: "apply_patch", args: { input }, activity });
}

/** The answer of the tool. */
export function* commentOnPull(number: number, body: string): Script<string> {
  const name = "mcp__platform__comment_on_pull_request";
  return yield { name, args: { number, body }, activity: `commenting on pull request ${number}` };
}

/** Text as inline code, also if it contains backticks. */
export function code(text: string): string {
  const line = text.includes("\n") ? `${text.split("\n")[0]} …` : text;
  return line.includes("`") ? `\`\` ${line} \`\`` : `\`${line}\``;
}

/** Text as a fenced block, cut in the middle when long. */
export function block(text: string): string {
  const lines = text.replace(/\s+$/, "").split("\n");
  const shown = lines.length <= 60 ? lines : [...lines.slice(0, 20), "…", ...lines.slice(-39)];
  const fence = "`".repeat(Math.max(3, ...(text.match(/`+/g) ?? []).map((run) => run.length + 1)));
  return `${fence}\n${shown.join("\n")}\n${fence}`;
}

// 20 minutes at 30 seconds each; the limits of a run are shorter.
const maxPolls = 40;
// 2000 lines each.
const maxPages = 20;
