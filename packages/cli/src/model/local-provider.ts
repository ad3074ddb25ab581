// `--oss`: finds a model server on this machine and a model it has, or says how to start one.
import type { IncomingMessage } from "node:http";
import { CommandError } from "@agentcli/command-line";
import type { Environment, RunOptions } from "@agentcli/host";
import { localBaseUrl, practice } from "@agentcli/models";
import type { LoadedConfig } from "@agentcli/project";
import { nearest } from "@agentcli/project/nearest";
import type { Config, LocalProvider } from "@agentcli/protocol";

export interface LocalChoice {
  provider: LocalProvider;
  model: string;
}

export interface LocalOptions {
  /** Null asks every known server, in order. */
  provider: LocalProvider | null;
  /** Named on the command line: this one or none. */
  model: string | undefined;
  config: Config;
  environment: Environment;
}

/** The options of a run with server and model filled in; the practice model needs neither. */
export async function withLocalModel(
  options: RunOptions,
  { config, overridden }: LoadedConfig,
  environment: Environment,
): Promise<RunOptions> {
  const model = options.model ?? overridden.model;
  if (options.local === null || model === practice) return options;
  const provider = options.local === "any" ? null : options.local;
  return { ...options, ...(await findLocalModel({ provider, model, config, environment })) };
}

export async function findLocalModel({ provider, model, config, environment }: LocalOptions): Promise<LocalChoice> {
  const wanted = provider ?? config.oss_provider ?? null;
  const candidates: LocalProvider[] = wanted ? [wanted] : ["ollama", "lmstudio"];
  const silent: Silent[] = [];
  for (const candidate of candidates) {
    const answer = await listModels(candidate, localBaseUrl(candidate, environment.variables));
    if (answer.kind === "models") {
      return { provider: candidate, model: pickModel(candidate, answer.names, model, config.model) };
    }
    silent.push({ provider: candidate, ...answer });
  }
  throw noneAnswers(silent);
}

/** The requested model, else the configured one if present, else the first chat model. */
export function pickModel(
  provider: LocalProvider,
  names: string[],
  asked: string | undefined,
  configured: string | undefined,
): string {
  const find = (wanted: string | undefined) => names.find((name) => name === wanted || name === `${wanted}:latest`);
  if (asked !== undefined) {
    const found = find(asked);
    if (found) return found;
    const near = nearest(asked, [practice, ...names]);
    throw new CommandError(
      "usage",
      `${titles[provider]} does not have the model ${asked}. Get it: ${pull[provider](asked)}. It has: ${names.join(", ") || "none"}.${near ? ` Did you mean ${near}?` : ""}`,
    );
  }
  const [first] = names.filter((name) => !/embed/i.test(name));
  const chosen = find(configured) ?? first;
  if (chosen) return chosen;
  throw new CommandError(
    "usage",
    `${titles[provider]} has no model yet. Get one: ${pull[provider](exampleModel[provider])}.`,
  );
}

const titles: Record<LocalProvider, string> = { ollama: "Ollama", lmstudio: "LM Studio" };
const exampleModel: Record<LocalProvider, string> = { ollama: "gpt-oss:20b", lmstudio: "openai/gpt-oss-20b" };
const start: Record<LocalProvider, string> = { ollama: "ollama serve", lmstudio: "lms server start" };
const pull: Record<LocalProvider, (model: string) => string> = {
  ollama: (model) => `ollama pull ${model}`,
  lmstudio: (model) => `lms get ${model}`,
};

type Listing = { kind: "models"; names: string[] } | { kind: "silent"; address: string; reason: string };
type Silent = Extract<Listing, { kind: "silent" }> & { provider: LocalProvider };

/** Every server lists its models in the common form; an older Ollama only in its own. */
async function listModels(provider: LocalProvider, baseUrl: string): Promise<Listing> {
  const common = await get(new URL(`${baseUrl}/models`));
  if (common.kind === "answer" && common.status === 200) return { kind: "models", names: namesIn(common.body) };
  if (common.kind === "silent") return { ...common, address: baseUrl };
  const own = provider === "ollama" ? await get(new URL("/api/tags", baseUrl)) : common;
  if (own.kind === "answer" && own.status === 200) return { kind: "models", names: namesIn(own.body) };
  return { kind: "silent", address: baseUrl, reason: `it answered HTTP ${common.status}` };
}

/** `{data: [{id}]}` or `{models: [{name}]}`; anything else is not a list. */
export function namesIn(body: string): string[] {
  try {
    const { data, models } = JSON.parse(body) ?? {};
    const entries: unknown = data ?? models;
    if (!Array.isArray(entries)) return [];
    return entries.map((entry) => entry?.id ?? entry?.name).filter((name) => typeof name === "string" && name !== "");
  } catch {
    return [];
  }
}

type Got = { kind: "answer"; status: number; body: string } | { kind: "silent"; reason: string };

/** A server on this machine answers at once or is not there. */
const limitMs = 3_000;

async function get(url: URL): Promise<Got> {
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  return new Promise((resolve) => {
    const failed = (error: Error) => resolve({ kind: "silent", reason: reasonOf(error) });
    const sent = request(url, { signal: AbortSignal.timeout(limitMs) }, (answer) => {
      readText(answer).then((body) => resolve({ kind: "answer", status: answer.statusCode ?? 0, body }), failed);
    });
    sent.on("error", failed);
    sent.end();
  });
}

async function readText(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece);
  return Buffer.concat(pieces).toString("utf8");
}

/** A name with several addresses fails with an error that has only a code. */
const reasonOf = (error: NodeJS.ErrnoException): string =>
  error.name === "AbortError" ? `no answer within ${limitMs / 1000} s` : error.message || error.code || error.name;

function noneAnswers(silent: Silent[]): CommandError {
  const tried = silent.map(
    ({ provider, address, reason }) =>
      `  ${titles[provider]} at ${address}: ${reason}. Start it: ${start[provider]}, then ${pull[provider](exampleModel[provider])}`,
  );
  return new CommandError(
    "usage",
    `No local model server answers.\n${tried.join("\n")}\nAt another address: set AGENT_OSS_PORT or AGENT_OSS_BASE_URL.`,
  );
}
