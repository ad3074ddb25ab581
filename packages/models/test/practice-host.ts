// A minimal host for the practice model: real files and commands in a temporary folder, results in the format of the tools.
import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import type { Message, ModelReply, ModelRequest } from "@agentcli/engine";
import type { Block, ToolSpec } from "@agentcli/protocol";
import { openPracticeModel } from "../src/scripted/model.ts";

const functionTool = (name: string): ToolSpec => ({ form: "function", name, description: name, parameters: {} });

export const functionTools = ["exec_command", "write_stdin", "apply_patch", "read_file"].map(functionTool);

export const freeformTools = functionTools.map(
  (tool): ToolSpec =>
    tool.name === "apply_patch"
      ? {
          form: "freeform",
          name: tool.name,
          description: "patch",
          grammar: { syntax: "lark", definition: "start: /.+/" },
        }
      : tool,
);

export const userMessage = (text: string): Message => ({ role: "user", parts: [{ type: "text", text }] });

export const requestWith = (messages: Message[], more: Partial<ModelRequest> = {}): ModelRequest => ({
  model: "practice",
  instructions: "You are an agent.",
  messages,
  tools: freeformTools,
  cacheKey: "thread",
  turnId: "turn",
  ...more,
});

export async function ask(request: ModelRequest): Promise<Extract<ModelReply, { kind: "replied" }>> {
  const reply = await openPracticeModel().reply(request, () => {}, new AbortController().signal);
  if (reply.kind === "fault") throw new Error(reply.fault.message);
  return reply;
}

export type Call = Extract<Block, { type: "call" }>;

export const callIn = (blocks: Block[]): Call | undefined => blocks.find((block) => block.type === "call");

export const textIn = (blocks: Block[]): string =>
  blocks.flatMap((block) => (block.type === "message" ? [block.text] : [])).join("\n");

export const toolResult = (call: Call, text: string): Message => ({
  role: "tool",
  wireId: call.wireId,
  form: call.form,
  parts: [{ type: "text", text }],
});

export interface Host {
  root: string;
  read(path: string): string;
  has(path: string): boolean;
  /** Runs a turn to its final message; every request goes to a new model, so nothing is remembered. */
  turn(
    messages: Message[],
    more?: Partial<ModelRequest>,
  ): Promise<{ text: string; calls: string[]; messages: Message[] }>;
}

export function openHost(from?: string): Host & Disposable {
  const root = mkdtempSync(join(tmpdir(), "practice-"));
  if (from) cpSync(from, root, { recursive: true });
  const turn: Host["turn"] = async (messages, more) => {
    const calls: string[] = [];
    const conversation = [...messages];
    for (;;) {
      const { blocks } = await ask(requestWith(conversation, more));
      const call = callIn(blocks);
      conversation.push({ role: "assistant", blocks });
      if (!call) return { text: textIn(blocks), calls, messages: conversation };
      calls.push(call.name);
      if (calls.length > 60) throw new Error("The practice model did not finish within 60 calls.");
      conversation.push(toolResult(call, perform(root, call)));
    }
  };
  return {
    root,
    read: (path) => readFileSync(join(root, path), "utf8"),
    has: (path) => existsSync(join(root, path)),
    turn,
    [Symbol.dispose]: () => rmSync(root, { recursive: true }),
  };
}

export function perform(root: string, call: Call): string {
  const args: Record<string, string> = call.form === "freeform" ? { input: call.input } : JSON.parse(call.input);
  if (call.name === "exec_command") return runCommand(root, args.cmd ?? "");
  if (call.name === "apply_patch") return applyPatch(root, args.input ?? "");
  if (call.name !== "read_file") return `unsupported call: ${call.name}`;
  const path = resolve(root, args.path ?? "");
  return existsSync(path)
    ? fileText(readFileSync(path, "utf8"), Number(args.offset ?? 1))
    : `No such file: ${args.path}`;
}

/** The output of read_file, with small pages so that tests reach the second one. */
export function fileText(text: string, offset: number): string {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  if (lines.length === 0) return "[the file is empty]";
  const page = lines.slice(offset - 1, offset - 1 + pageLines);
  const left = lines.length - offset + 1 - page.length;
  const more =
    left > 0 ? [`[${left} more ${left === 1 ? "line" : "lines"}; read on with offset ${offset + page.length}]`] : [];
  return [...page.map((line, index) => `${offset + index}: ${line}`), ...more].join("\n");
}

const pageLines = 50;

export const commandText = (exitCode: number, output: string): string =>
  `Chunk ID: bcb10d\nWall time: 0.1732 seconds\nProcess exited with code ${exitCode}\nOriginal token count: 16\nOutput:\n${output}`;

function runCommand(root: string, cmd: string): string {
  // With this variable a nested test runner reports to its parent instead of printing.
  const { NODE_TEST_CONTEXT: _context, ...env } = process.env;
  const run = spawnSync("bash", ["-c", cmd], { cwd: root, encoding: "utf8", env });
  return commandText(run.status ?? 1, run.stdout + run.stderr);
}

function applyPatch(root: string, patch: string): string {
  const lines = patch.trimEnd().split("\n");
  if (lines[0] !== "*** Begin Patch" || lines.at(-1) !== "*** End Patch") return "invalid patch: no begin or end";
  const [, kind, name = ""] = /^\*\*\* (Add|Delete|Update) File: (.*)$/.exec(lines[1] ?? "") ?? [];
  const path = resolve(root, name);
  const body = lines.slice(2, -1);
  if (kind === "Add") {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, body.map((line) => `${line.slice(1)}\n`).join(""));
    return `Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA ${name}\n`;
  }
  if (!existsSync(path)) return `Failed to read file to update ${name}: No such file`;
  if (kind === "Update") {
    const updated = updateText(readFileSync(path, "utf8"), body);
    if (updated === undefined) return `Failed to find expected lines in ${name}:\n${body.join("\n")}`;
    const to = body.find((line) => line.startsWith("*** Move to: "))?.slice("*** Move to: ".length) ?? name;
    writeFileSync(resolve(root, to), updated);
    if (to !== name) rmSync(path);
  } else rmSync(path);
  return `Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nM ${name}\n`;
}

function updateText(text: string, body: string[]): string | undefined {
  const lines = text === "" ? [] : text.replace(/\n$/, "").split("\n");
  let from = 0;
  for (const chunk of body
    .join("\n")
    .split(/^@@.*\n/m)
    .slice(1)) {
    const marked = chunk
      .replace(/\n$/, "")
      .split("\n")
      .filter((line) => !line.startsWith("***"));
    const before = marked.filter((line) => !line.startsWith("+")).map((line) => line.slice(1));
    const after = marked.filter((line) => !line.startsWith("-")).map((line) => line.slice(1));
    const starts = chunk.includes("*** End of File")
      ? [lines.length - before.length]
      : [...lines.keys()].filter((at) => at >= from);
    const at = [...starts].find((start) => before.every((line, offset) => lines[start + offset] === line));
    if (at === undefined) return undefined;
    lines.splice(at, before.length, ...after);
    from = at + after.length;
  }
  return `${lines.join("\n")}\n`;
}
