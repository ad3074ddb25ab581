// The models that a provider offers to this key, as it lists them.
import { addressOf } from "./addressing.ts";
import { modelFacts } from "./catalog.ts";
import { requestJson } from "./json-request.ts";
import { wires } from "./open.ts";
import { priceOf } from "./prices.ts";
import type { Client, Provider } from "./provider.ts";
import { fields, text } from "./untrusted.ts";

export interface OfferedModel {
  id: string;
  /** In tokens: as the provider says, else as this program knows or assumes it. */
  contextWindow: number;
  images: boolean;
  reasoning: boolean;
  /** US dollars per million tokens; null if unknown. */
  price: { input: number; output: number } | null;
}

export type Listing = { kind: "models"; models: OfferedModel[] } | { kind: "failed"; code: string; message: string };

/** Always resolves. */
export async function listModels(provider: Provider, client: Client, signal: AbortSignal): Promise<Listing> {
  const { endpoint, name } = provider;
  if (endpoint && endpoint.kind !== "azure")
    return { kind: "failed", code: "unlisted", message: `${name} has no list of models that its key can read.` };
  const models: OfferedModel[] = [];
  for (let after: string | undefined; ; ) {
    const page = await readPage(provider, client, { after, signal });
    if (page.kind === "failed") return page;
    models.push(...page.models);
    if (page.next === undefined || page.models.length === 0 || models.length >= maxModels)
      return { kind: "models", models };
    after = page.next;
  }
}

/** Far above any real list. */
const maxModels = 10_000;

type Page = Extract<Listing, { kind: "failed" }> | { kind: "page"; models: OfferedModel[]; next: string | undefined };

async function readPage(
  provider: Provider,
  client: Client,
  { after, signal }: { after: string | undefined; signal: AbortSignal },
): Promise<Page> {
  const { wireApi } = provider;
  const url = addressOf(provider, "models");
  if (wireApi === "anthropic") url.searchParams.set("limit", "1000");
  if (after !== undefined) url.searchParams.set("after_id", after);
  const answer = await requestJson({ provider, client, wire: wires[wireApi] }, { url }, signal);
  return answer.kind === "failed" ? answer : pageOf(answer.value, provider);
}

/** `{data: […]}`, or `{models: […]}` of an older Ollama. */
function pageOf(value: unknown, provider: Provider): Page {
  const { name } = provider;
  const answer = fields(value);
  const entries = answer.data ?? answer.models;
  if (!Array.isArray(entries))
    return { kind: "failed", code: "protocol", message: `${name} did not answer with a list of models.` };
  const models = entries.flatMap((entry) => offered(fields(entry), provider));
  return { kind: "page", models, next: answer.has_more === true ? text(answer.last_id) : undefined };
}

function offered(entry: Record<string, unknown>, { wireApi, catalogue }: Provider): OfferedModel[] {
  const id = (text(entry.id) ?? text(entry.name))?.replace(/^models\//, "");
  if (!id) return [];
  const { contextWindow, images, reasoning } = modelFacts(id, wireApi, catalogue);
  // OpenRouter, Groq, vLLM and others name it in their own ways.
  const stated = [entry.context_length, entry.context_window, entry.max_model_len, entry.max_input_tokens].find(
    isCount,
  );
  return [
    {
      id,
      contextWindow: stated ?? contextWindow,
      images,
      reasoning,
      price: statedPrice(entry) ?? knownPrice(id, catalogue),
    },
  ];
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

/** OpenRouter: US dollars per token, as text. */
function statedPrice({ pricing }: Record<string, unknown>): OfferedModel["price"] {
  const [input, output] = [fields(pricing).prompt, fields(pricing).completion].map(Number);
  const isPrice = (value: number | undefined): value is number =>
    value !== undefined && Number.isFinite(value) && value >= 0;
  return isPrice(input) && isPrice(output) ? { input: perMillion(input), output: perMillion(output) } : null;
}

const perMillion = (perToken: number): number => Number((perToken * 1_000_000).toFixed(6));

function knownPrice(id: string, catalogue: Provider["catalogue"]): OfferedModel["price"] {
  const { input, output } = priceOf(id, catalogue) ?? {};
  return input === undefined || output === undefined ? null : { input, output };
}
