// Sessions of Claude Code: projects/DIRECTORY/ID.jsonl, whose lines form a tree; the last branch is the conversation.
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

/** Null for files without a prompt. */
export function readClaudeSession(path: string, text: string): Conversation | null {
  const branch = lastBranch(parseLines(text));
  const [first] = branch;
  if (!first) return null;
  const at = timeIn(first.timestamp, new Date(0));
  const turns = openTurns();
  for (const line of branch) {
    const content = isObject(line.message) ? line.message.content : undefined;
    if (line.type === "assistant") addReply(turns, content);
    else addUserLine(turns, line, timeIn(line.timestamp, at));
  }
  const [id, cwd] = [textIn(first.sessionId), textIn(first.cwd)];
  return id && cwd && turns.turns.length > 0 ? { path, id, cwd, at, turns: turns.turns } : null;
}

/** From the first line to the last one. Sub-agents have side chains. */
function lastBranch(lines: Json[]): Json[] {
  const own = lines.filter(
    ({ type, isSidechain }) => (type === "user" || type === "assistant" || type === "system") && isSidechain !== true,
  );
  const byId = new Map(own.map((line) => [textIn(line.uuid), line]));
  const branch: Json[] = [];
  let line = own.at(-1);
  while (line && branch.length < own.length) {
    branch.unshift(line);
    line = byId.get(textIn(line.parentUuid));
  }
  return branch.filter(({ type, isMeta }) => type !== "system" && isMeta !== true);
}

function addReply(turns: Turns, content: unknown): void {
  if (typeof content === "string") turns.message(content);
  for (const part of Array.isArray(content) ? content.filter(isObject) : []) {
    if (part.type === "text") turns.message(textIn(part.text));
    if (part.type !== "tool_use") continue;
    const input = JSON.stringify(part.input ?? {});
    turns.call({ id: textIn(part.id), name: textIn(part.name), form: "function", input });
  }
}

/** A prompt, or the results of calls. What a command of the program printed is neither. */
function addUserLine(turns: Turns, { message }: Json, at: Date): void {
  const content = isObject(message) ? message.content : undefined;
  const parts = Array.isArray(content) ? content.filter(isObject) : [];
  for (const part of parts.filter(({ type }) => type === "tool_result"))
    turns.result(textIn(part.tool_use_id), contentTexts(part.content).join("\n"), part.is_error === true);
  const texts = contentTexts(content).filter((text) => !/^\s*<(?:command-|local-command-|system-reminder)/.test(text));
  if (texts.join("").trim() !== "") turns.prompt(texts.join("\n"), at);
}
