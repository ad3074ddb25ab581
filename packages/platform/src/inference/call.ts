// One call of a model for a program outside: admitted, asked, charged, answered.
import { createHash, randomBytes } from "node:crypto";
import { estimateMessage, type ModelReply, type ModelRequest } from "@agentcli/engine";
import type { InferenceRequest, InferenceResponse } from "@agentcli/protocol/api";
import { listModels } from "../catalogue/index.ts";
import { ApiProblem } from "../http/index.ts";
import type { Platform } from "../platform.ts";
import type { Principal } from "../principals/index.ts";
import { type ChosenModel, chooseModel } from "../runs/index.ts";
import { inputTokensOf, openMeter, type Price, priceOf, tokens } from "./estimate.ts";
import { openResponseEvents, type ResponseEvents } from "./events.ts";
import { errorOf, isTurnedAway, problemOf } from "./faults.ts";
import { type Charge, reserve, settle } from "./ledger.ts";
import { modelRequestOf } from "./request.ts";

export interface AdmittedCall {
  id: string;
  chosen: ChosenModel;
  request: ModelRequest;
  price: Price;
  /** Estimated. */
  inputTokens: number;
}

/** Whoever asks tries again as often as they like; trying here too would multiply that. */
const onlyOnce = { requestMaxRetries: 0, streamMaxRetries: 0 };

/** From here on the call is paid for: it must be carried out. */
export async function admitCall(
  { db, settings }: Platform,
  body: InferenceRequest,
  principal: Principal,
): Promise<AdmittedCall> {
  const known = listModels(settings.models);
  const entry = known.find(({ id, aliases = [] }) => id === body.model || aliases.includes(body.model ?? ""));
  if (body.model !== undefined && !entry)
    throw new ApiProblem(
      "invalid_model",
      `model: there is no model ${body.model.slice(0, 100)}. Known: ${known.map(({ id }) => id).join(", ")}.`,
    );
  const id = `resp_${randomBytes(24).toString("hex")}`;
  const chosen = chooseModel(entry?.id, settings, onlyOnce);
  const cacheKey = cacheKeyOf(principal.teamId, body.prompt_cache_key ?? id);
  const request = modelRequestOf(body, { model: chosen.id, callId: id, cacheKey });
  const price = priceOf(chosen.id, settings);
  const inputTokens = inputTokensOf(request);
  const wish = { price, inputTokens, maxOutputTokens: request.maxOutputTokens };
  const maxOutputTokens = await reserve(db, { id, principal, model: chosen.id, ...wish });
  return { id, chosen, request: { ...request, maxOutputTokens }, price, inputTokens };
}

/** Of one team: nobody meets what others have left in a prompt cache. As it goes into a header it is no text of anybody. */
const cacheKeyOf = (teamId: number, given: string): string =>
  createHash("sha256").update(`${teamId}:${given}`).digest("hex").slice(0, 32);

export const eventsOf = (call: AdmittedCall, emit: Parameters<typeof openResponseEvents>[1]): ResponseEvents =>
  openResponseEvents(
    {
      id: call.id,
      model: call.chosen.id,
      createdAt: Math.floor(Date.now() / 1_000),
      maxOutputTokens: call.request.maxOutputTokens ?? null,
    },
    emit,
  );

/** Throws ApiProblem where there is no answer and nothing of one has been sent. */
export async function carryOut(
  platform: Platform,
  call: AdmittedCall,
  events: ResponseEvents,
  signal: AbortSignal,
): Promise<InferenceResponse> {
  const meter = openMeter();
  const given = await call.chosen.model.reply(
    call.request,
    (progress) => {
      meter.take(progress);
      events.take(progress);
    },
    signal,
  );
  const reply = counted(given, call.inputTokens);
  const charge = chargeOf(reply, call, meter.outputTokens());
  await keep(platform, call, charge);
  if (reply.kind === "replied") return events.complete(reply);
  const { fault } = reply;
  if (fault.incomplete) return events.breakOff(fault.incomplete, charge.usage);
  platform.log.warn("inference.failed", {
    callId: call.id,
    model: call.chosen.id,
    code: fault.code,
    status: fault.status,
  });
  if (!events.hasBegun()) throw problemOf(fault, call.chosen.id);
  return events.fail(errorOf(fault, call.chosen.id));
}

/** Some servers count nothing. */
function counted(reply: ModelReply, inputTokens: number): ModelReply {
  if (reply.kind === "fault" || reply.usage.inputTokens + reply.usage.outputTokens > 0) return reply;
  return { ...reply, usage: tokens(inputTokens, estimateMessage({ role: "assistant", blocks: reply.blocks })) };
}

function chargeOf(reply: ModelReply, { request, price, inputTokens }: AdmittedCall, outputTokens: number): Charge {
  if (reply.kind === "replied") return priced("completed", reply.usage, price);
  const { fault } = reply;
  const isCut = fault.code === "interrupted";
  if (fault.usage) return priced(fault.incomplete ? "incomplete" : "failed", fault.usage, price);
  if (fault.incomplete === "max_output_tokens")
    return priced("incomplete", tokens(inputTokens, Math.max(outputTokens, request.maxOutputTokens ?? 0)), price);
  if (isTurnedAway(fault) && outputTokens === 0) return { status: "failed", usage: tokens(0, 0), costUsd: 0 };
  return priced(isCut ? "cut" : "failed", tokens(inputTokens, outputTokens), price);
}

const priced = (status: Charge["status"], usage: Charge["usage"], price: Price): Charge => ({
  status,
  usage,
  costUsd: price(usage),
});

/** Where it cannot be written down, what was reserved stays spent. */
async function keep({ db, log, metrics }: Platform, { id, chosen }: AdmittedCall, charge: Charge): Promise<void> {
  const labels = { model: chosen.id, status: charge.status };
  metrics.counter("platform_inference_calls_total", "Calls of models for programs outside").add(labels);
  const used = metrics.counter("platform_inference_tokens_total", "Tokens of calls for programs outside");
  used.add({ model: chosen.id, kind: "input" }, charge.usage.inputTokens);
  used.add({ model: chosen.id, kind: "output" }, charge.usage.outputTokens);
  await settle(db, id, charge).catch((error: unknown) => log.error("inference.unsettled", error, { callId: id }));
}
