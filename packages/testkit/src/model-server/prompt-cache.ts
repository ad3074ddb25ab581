// What a provider that keeps prompts reads from its cache: the longest beginning of a request that it has seen before.
import { createHash } from "node:crypto";

export interface PromptUse {
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens: number;
}

export type PromptWire = "responses" | "chat" | "anthropic";

/** The prompt of a request in the order in which providers keep it: tools, system, conversation. Each segment is JSON. */
export function promptSegments(wire: PromptWire, body: unknown): string[] {
  return segmentsOf(wire, body).map(({ text }) => text);
}

/** Prompts are kept per model. */
export function openPromptCache(): (wire: PromptWire, body: unknown) => PromptUse {
  const kept = new Set<string>();
  return (wire, body) => {
    const segments = segmentsOf(wire, body);
    const { model } = body as { model?: unknown };
    const beginnings = beginningsOf([String(model), ...segments.map(({ text }) => text)]);
    const ends = wire === "anthropic" ? segments.flatMap((each, index) => (each.breakpoint ? [index] : [])) : "all";
    const hit = ends === "all" ? findKept(beginnings, kept) : keptAtBreakpoint(beginnings, ends, kept);
    for (const [index, beginning] of beginnings.entries())
      if (ends === "all" || ends.includes(index)) kept.add(beginning);
    const sizes = segments.map(({ text }) => Math.ceil(Buffer.byteLength(text) / 4));
    const upTo = (end: number) => sizes.slice(0, end + 1).reduce((sum, size) => sum + size, 0);
    const written = ends === "all" ? 0 : upTo(ends.at(-1) ?? -1) - upTo(hit);
    return {
      inputTokens: upTo(sizes.length - 1),
      cachedInputTokens: upTo(hit),
      cacheWriteInputTokens: Math.max(0, written),
    };
  };
}

interface Segment {
  text: string;
  breakpoint: boolean;
}

interface WireBody {
  tools?: unknown[];
  instructions?: unknown;
  input?: unknown[];
  system?: unknown[];
  messages?: { role: string; content: unknown }[];
}

function segmentsOf(wire: PromptWire, body: unknown): Segment[] {
  const { tools = [], instructions, input = [], system = [], messages = [] } = body as WireBody;
  const plain = (values: unknown[]): Segment[] =>
    values.map((value) => ({ text: JSON.stringify(value), breakpoint: false }));
  if (wire === "responses") return plain([...tools, instructions, ...input]);
  if (wire === "chat") return plain([...tools, ...messages]);
  const blocks = messages.flatMap(({ role, content }) =>
    (Array.isArray(content) ? content : [content]).map((block) => withoutMark(block, role)),
  );
  return [...plain(tools), ...system.map((block) => withoutMark(block, "system")), ...blocks];
}

/** A mark says where to keep the prompt; it is not part of it. */
function withoutMark(block: unknown, role: string): Segment {
  const { cache_control: mark, ...content } = block as Record<string, unknown>;
  return { text: JSON.stringify([role, content]), breakpoint: mark !== undefined };
}

function beginningsOf([model = "", ...texts]: string[]): string[] {
  let beginning = model;
  return texts.map((text) => {
    beginning = createHash("sha256").update(`${beginning}\n${text}`).digest("hex");
    return beginning;
  });
}

const findKept = (beginnings: string[], kept: Set<string>): number =>
  beginnings.findLastIndex((beginning) => kept.has(beginning));

/** From each breakpoint the provider looks back this many blocks. */
const maxLookBack = 20;

function keptAtBreakpoint(beginnings: string[], ends: number[], kept: Set<string>): number {
  for (const end of ends.toReversed()) {
    for (let index = end; index >= 0 && index > end - maxLookBack; index -= 1)
      if (kept.has(beginnings[index] ?? "")) return index;
  }
  return -1;
}
