// Facts about models by name, and defaults for all others.
import type { WireApi } from "@agentcli/protocol";

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

export function modelFacts(model: string, wireApi: WireApi): ModelFacts {
  const name = familyName(model);
  const familyFacts = families.find(([family]) => family.test(name))?.[1];
  const facts = { ...unknownModel, ...familyFacts };
  return { ...facts, freeform: facts.freeform && wireApi === "responses" };
}

/** `openai/GPT-5` and `gpt-5` are one model: gateways put the vendor in front. */
const familyName = (model: string): string => model.slice(model.lastIndexOf("/") + 1).toLowerCase();

const unknownModel: ModelFacts = {
  contextWindow: 128_000,
  maxOutputTokens: 16_384,
  freeform: false,
  images: true,
  patches: false,
  reasoning: true,
  thinking: "none",
};

const families: [family: RegExp, facts: Partial<ModelFacts>][] = [
  // Newer members accept more than 272k tokens, at a higher price.
  [/^gpt-5|codex/, { contextWindow: 272_000, freeform: true, patches: true }],
  [/^gpt-4\.1/, { contextWindow: 1_047_576, patches: true, reasoning: false }],
  [/^gpt-4/, { reasoning: false }],
  [/^gpt-3/, { contextWindow: 16_385, images: false, reasoning: false }],
  [/^o[134]/, { contextWindow: 200_000, patches: true }],
  [/^gpt-oss/, { contextWindow: 131_072, images: false, patches: true }],
  [/^practice$/, { patches: true }],
  [/^claude-(haiku|sonnet|opus)-4-5/, { contextWindow: 200_000, maxOutputTokens: 64_000, thinking: "extended" }],
  [/^claude-[a-z]+-[4-9]/, { contextWindow: 1_000_000, maxOutputTokens: 64_000, thinking: "adaptive" }],
  [/^claude/, { contextWindow: 200_000 }],
  [/^gemini/, { contextWindow: 1_048_576 }],
  [/^(deepseek|qwen\d*-coder|kimi-k2|glm-\d|devstral|codestral)/, { images: false }],
];
