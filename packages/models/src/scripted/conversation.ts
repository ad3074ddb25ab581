// Reads what the practice model needs from a conversation: the last prompt, the calls since, the skills.
import type { Message } from "@agentcli/engine";
import type { Part } from "@agentcli/protocol";
import { readSummary } from "./answer.ts";
import type { PracticeEnvironment } from "./steps.ts";

export interface SettledCall {
  name: string;
  input: string;
  /** The output of the tool. */
  result: string;
}

export interface Situation {
  prompt: string;
  settled: SettledCall[];
  environment: PracticeEnvironment;
}

export function readSituation(messages: Message[]): Situation {
  const at = messages.findLastIndex((message) => promptOf(message) !== "");
  const prompt = at < 0 ? "" : promptOf(messages[at]);
  return { prompt, settled: settledCalls(messages.slice(at + 1)), environment: readEnvironment(messages) };
}

/** The prompt in this message; empty for messages of the model and of the host. */
function promptOf(message: Message | undefined): string {
  if (message?.role !== "user") return "";
  return textParts(message.parts)
    .filter((text) => !isFromHost(text))
    .map((text) => withoutEvent(withoutStdin(text)).trim())
    .filter((text) => text !== "")
    .join("\n");
}

function withoutStdin(text: string): string {
  const start = text.indexOf("<stdin>");
  return start >= 0 && text.trimEnd().endsWith("</stdin>") ? text.slice(0, start) : text;
}

/** The event that started a run of an automation is data, and stands behind the prompt. */
function withoutEvent(text: string): string {
  const start = text.indexOf("\n\nThe event that started this run stands between the two lines with ");
  return start < 0 ? text : text.slice(0, start);
}

const isFromHost = (text: string): boolean =>
  readSummary(text) === undefined &&
  /^\s*(?:# AGENTS\.md instructions\b|<([a-z_]+)\b[^>]*>[\s\S]*<\/\1>\s*$)/.test(text);

/** The calls in order, each with the next result of its id: ids may repeat within a thread. */
function settledCalls(messages: Message[]): SettledCall[] {
  return messages.flatMap((message, index) => {
    if (message.role !== "assistant") return [];
    const calls = message.blocks.filter((block) => block.type === "call");
    return calls.map(({ name, input, wireId }) => {
      const answer = messages.slice(index + 1).find((later) => later.role === "tool" && later.wireId === wireId);
      const result = answer ? textParts(answer.role === "tool" ? answer.parts : []).join("\n") : unknownOutcome;
      return { name, input, result };
    });
  });
}

const unknownOutcome = "The outcome is unknown: no result was recorded.";

function readEnvironment(messages: Message[]): PracticeEnvironment {
  const texts = messages.flatMap((message) =>
    message.role === "user" || message.role === "developer" ? textParts(message.parts) : [],
  );
  const all = texts.join("\n");
  // Divided first: a pattern over all of it would look for the end of every tag that has none.
  const skills = all
    .split("</skill>")
    .slice(0, -1)
    .map((piece) => /<skill>\s*<name>([^<]*)<\/name>([\s\S]*)$/.exec(piece))
    .filter((match) => match !== null);
  const contexts = all.split("<environment_context>").slice(1);
  return {
    skills: new Map(skills.map((match) => [(match[1] ?? "").trim(), match[2] ?? ""])),
    cwd: contexts.flatMap((context) => /<cwd>([^<]+)<\/cwd>/.exec(context)?.[1]?.trim() ?? []).at(-1),
  };
}

const textParts = (parts: Part[]): string[] => parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
