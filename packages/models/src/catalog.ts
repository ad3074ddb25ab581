// Facts about models by name, and defaults for all others.
import type { ModelEntry, ModelsFile, WireApi } from "@agentcli/protocol";
import { catalogue } from "../generated/catalogue.ts";

export interface ModelFacts {
  /** Tokens of prompt and reply together. */
  contextWindow: number;
  /** Of one reply, reasoning included. */
  maxOutputTokens: number;
  /** Whether tools may take free text under a grammar. */
  freeform: boolean;
  images: boolean;
  /** Whether the model is trained to write patches; others are offered exact replacement as well. */
  patches: boolean;
  /** Whether the model reasons, and its reasoning can be sent back. */
  reasoning: boolean;
  /** On the Anthropic wire: as much as the model decides, as many tokens as the request allows, or not at all. */
  thinking: "adaptive" | "extended" | "none";
}

/** `own`: what the user says of models, which takes precedence. */
export function modelFacts(model: string, wireApi: WireApi, own?: ModelsFile): ModelFacts {
  const entry = entryOf(familyName(model), own) ?? {};
  return {
    contextWindow: entry.context_window ?? 128_000,
    maxOutputTokens: entry.max_output_tokens ?? 16_384,
    freeform: entry.freeform === true && wireApi === "responses",
    images: entry.images ?? true,
    patches: entry.patches ?? false,
    reasoning: entry.reasoning ?? true,
    thinking: entry.thinking ?? "none",
  };
}

export const isKnownModel = (model: string, own?: ModelsFile): boolean => entryOf(familyName(model), own) !== undefined;

/** Everything that matches the name counts; the entry with more letters wins, and what the user says over both. */
export function entryOf(name: string, own?: ModelsFile): ModelEntry | undefined {
  const found = [...matching(catalogue, name), ...(own ? matching(own, name) : [])];
  return found.length === 0 ? undefined : Object.assign({}, ...found);
}

// Asked for several times with each request, and a look through all patterns takes 0.1 ms.
const remembered = new WeakMap<ModelsFile, Map<string, ModelEntry[]>>();

/** Names come from callers, who may invent more. */
const maxRemembered = 100;

function matching(entries: ModelsFile, name: string): ModelEntry[] {
  const names = remembered.get(entries) ?? new Map<string, ModelEntry[]>();
  const known = names.get(name);
  if (known) return known;
  const found = findMatching(entries, name);
  if (names.size >= maxRemembered) names.clear();
  remembered.set(entries, names.set(name, found));
  return found;
}

const findMatching = (entries: ModelsFile, name: string): ModelEntry[] =>
  Object.entries(entries)
    .filter(([pattern]) => matches(pattern.toLowerCase(), name))
    .sort(([left], [right]) => letters(left) - letters(right))
    .map(([, entry]) => entry);

const letters = (pattern: string): number => pattern.replaceAll("*", "").length + (pattern.includes("*") ? 0 : 0.5);

function matches(pattern: string, name: string): boolean {
  const [first = "", ...others] = pattern.split("*");
  if (others.length === 0) return pattern === name;
  const last = others.pop() ?? "";
  let at = first.length;
  if (!name.startsWith(first)) return false;
  for (const part of others) {
    const found = name.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}

/** `openai/GPT-5` and `gpt-5` are one model: gateways put the vendor in front. */
const familyName = (model: string): string => model.slice(model.lastIndexOf("/") + 1).toLowerCase();
