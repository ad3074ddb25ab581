// Finds in a conversation what the practice model goes by: the last prompt, what was done since, and the skills at hand.
import type { Message } from "@agentcli/engine";
import type { Part } from "@agentcli/protocol";
import { readSummary } from "./answer.ts";
import type { Surroundings } from "./steps.ts";

export interface SettledCall {
  name: string;
  input: string;
  /** What the tool answered. */
  result: string;
}

export interface Situation {
  prompt: string;
  settled: SettledCall[];
  around: Surroundings;
}

export function readSituation(messages: Message[]): Situation {
  const at = messages.findLastIndex((message) => promptOf(message) !== "");
  const prompt = at < 0 ? "" : promptOf(messages[at]);
  return { prompt, settled: settledCalls(messages.slice(at + 1)), around: readSurroundings(messages) };
}

/** What a person asked in this message; nothing for the model's own messages and for what the host put in. */
function promptOf(message: Message | undefined): string {
  if (message?.role !== "user") return "";
  return textParts(message.parts)
    .filter((text) => !isPutInByHost(text))
    .map((text) => text.replace(/<stdin>[\s\S]*<\/stdin>\s*$/, "").trim())
    .filter((text) => text !== "")
    .join("\n");
}

const isPutInByHost = (text: string): boolean =>
  readSummary(text) === undefined &&
  /^\s*(?:# AGENTS\.md instructions\b|<([a-z_]+)\b[^>]*>[\s\S]*<\/\1>\s*$)/.test(text);

/** The calls in order, each with the result that follows it: ids may repeat within a thread, so the next one counts. */
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

function readSurroundings(messages: Message[]): Surroundings {
  const texts = messages.flatMap((message) =>
    message.role === "user" || message.role === "developer" ? textParts(message.parts) : [],
  );
  const all = texts.join("\n");
  const skills = [...all.matchAll(/<skill>\s*<name>([^<]*)<\/name>([\s\S]*?)<\/skill>/g)];
  return {
    skills: new Map(skills.map((match) => [(match[1] ?? "").trim(), match[2] ?? ""])),
    cwd: [...all.matchAll(/<environment_context>[\s\S]*?<cwd>([^<]+)<\/cwd>/g)].at(-1)?.[1]?.trim(),
  };
}

const textParts = (parts: Part[]): string[] => parts.flatMap((part) => (part.type === "text" ? [part.text] : []));
