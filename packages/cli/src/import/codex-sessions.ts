// Sessions of Codex: sessions/YYYY/MM/DD/rollout-*.jsonl, whose lines are items of the Responses wire.
import {
  type Conversation,
  contentTexts,
  isObject,
  type Json,
  openTurns,
  parseLines,
  textIn,
  timeIn,
} from "./conversation.ts";

type Turns = ReturnType<typeof openTurns>;

/** Null for sub-agents, and for files without a prompt. */
export function readCodexSession(path: string, text: string): Conversation | null {
  const lines = parseLines(text);
  const meta = lines.find(({ type }) => type === "session_meta")?.payload;
  if (!isObject(meta) || (isObject(meta.source) && "subagent" in meta.source)) return null;
  const at = timeIn(meta.timestamp, new Date(0));
  const turns = openTurns();
  for (const { type, payload, timestamp } of lines) {
    if (!isObject(payload)) continue;
    if (type === "response_item") addItem(turns, payload, timeIn(timestamp, at));
    if (type === "event_msg" && payload.type === "thread_rolled_back") turns.turns.splice(-countIn(payload.num_turns));
  }
  const [id, cwd] = [textIn(meta.id), textIn(meta.cwd)];
  return id && cwd && turns.turns.length > 0 ? { path, id, cwd, at, turns: turns.turns } : null;
}

/** Never 0, which would remove all of them. */
const countIn = (value: unknown): number => (typeof value === "number" && value >= 1 ? Math.floor(value) : Infinity);

function addItem(turns: Turns, item: Json, at: Date): void {
  const id = textIn(item.call_id);
  switch (item.type) {
    case "message":
      if (item.role === "assistant") turns.message(contentTexts(item.content).join(""));
      if (item.role === "user") addPrompt(turns, item.content, at);
      return;
    case "function_call":
      turns.call({ id, name: textIn(item.name), form: "function", input: textIn(item.arguments) });
      return;
    case "custom_tool_call":
      turns.call({ id, name: textIn(item.name), form: "freeform", input: textIn(item.input) });
      return;
    case "local_shell_call":
      turns.call({ id, name: "shell", form: "function", input: JSON.stringify(item.action ?? {}) });
      return;
    case "function_call_output":
    case "custom_tool_call_output":
      turns.result(id, outputText(item.output), isObject(item.output) && item.output.success === false);
  }
}

const outputText = (output: unknown): string => contentTexts(isObject(output) ? output.content : output).join("\n");

/** Instructions and the environment are sent as messages of the user too; agentcli adds its own. */
const isContext = (text: string): boolean =>
  /^\s*(?:# AGENTS\.md instructions|<(?:environment_context|user_instructions|permissions instructions|skill|turn_aborted|INSTRUCTIONS|subagent_notification|user_shell_command)\b)/.test(
    text,
  );

function addPrompt(turns: Turns, content: unknown, at: Date): void {
  const texts = contentTexts(content).filter((text) => !isContext(text));
  if (texts.join("").trim() !== "") turns.prompt(texts.join("\n"), at);
}
