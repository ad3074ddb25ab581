// `platform models`
import { randomUUID } from "node:crypto";
import type { Settings } from "../../foundation/config/index.ts";
import { listModels } from "../../inference/index.ts";
import { chooseModel } from "../../runs/index.ts";
import type { Invocation } from "../command.ts";
import type { Program } from "../program.ts";
import { settingsFor } from "../settings.ts";

interface Tried {
  model: string;
  provider: string;
  url: string | null;
  verdict: "answers" | "practice" | "fails";
  error: string | null;
}

export async function run(invocation: Invocation, program: Program): Promise<number> {
  const { settings } = settingsFor(invocation, program);
  const tried = await Promise.all(listModels(settings.models).map(({ id }) => tryModel(id, settings, program.signal)));
  if (invocation.has("json")) program.print(`${JSON.stringify(tried, null, 2)}\n`);
  else for (const one of tried) program.print(line(one));
  return tried.some(({ verdict }) => verdict === "fails") ? 1 : 0;
}

const noRetries = { requestMaxRetries: 0, streamMaxRetries: 0 };

async function tryModel(id: string, settings: Settings, signal: AbortSignal): Promise<Tried> {
  const { id: model, provider, baseUrl: url, model: port } = chooseModel(id, settings, noRetries);
  if (provider === "practice") return { model, provider, url, verdict: "practice", error: null };
  const messages = [{ role: "user" as const, parts: [{ type: "text" as const, text: "Reply with OK." }] }];
  const request = { model, instructions: "Reply with OK.", messages, tools: [], maxOutputTokens: 64 };
  const reply = await port.reply({ ...request, cacheKey: randomUUID(), turnId: randomUUID() }, () => {}, signal);
  // A reply that was cut at its maximum length is an answer too.
  const isAnswer = reply.kind === "replied" || reply.fault.incomplete === "max_output_tokens";
  if (isAnswer) return { model, provider, url, verdict: "answers", error: null };
  return { model, provider, url, verdict: "fails", error: `${reply.fault.code}: ${reply.fault.message}` };
}

const marks = { answers: "ok  ", practice: "note", fails: "FAIL" };

const line = ({ model, provider, url, verdict, error }: Tried): string =>
  verdict === "practice"
    ? `${marks[verdict]} ${model}: scripted, no key, no intelligence\n`
    : `${marks[verdict]} ${model} of ${provider}${url ? ` at ${url}` : ""}${error ? `: ${error}` : ""}\n`;
