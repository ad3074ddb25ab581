// One model call on behalf of an API client: reserve, call, charge, respond.
import { createHash, randomBytes } from "node:crypto";
import { estimateMessage, type ModelReply, type ModelRequest } from "@agentcli/engine";
import type { ChosenModel } from "@agentcli/host";
import type { InferenceRequest, InferenceResponse } from "@agentcli/protocol/api";
import { ApiError, type PlatformContext } from "../foundation/index.ts";
import { type Principal, settingsOfTeam } from "../identity/index.ts";
import { chooseModel } from "../runs/index.ts";
import { listModels } from "./catalogue/index.ts";
import { isRejected, toApiError, toStreamError } from "./errors.ts";
import { inputTokensOf, openMeter, type Price, priceOf, tokens } from "./estimate.ts";
import { openResponseEvents, type ResponseEvents } from "./events.ts";
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

/** Clients retry by themselves; retrying here too would multiply the attempts. */
const noRetries = { requestMaxRetries: 0, streamMaxRetries: 0 };

/** Reserves the cost: an admitted call must be executed and settled. */
export async function admitCall(
  platform: PlatformContext,
  body: InferenceRequest,
  principal: Principal,
): Promise<AdmittedCall> {
  const { db } = platform;
  const settings = await settingsOfTeam(platform, principal.teamId);
  const models = listModels(settings.models);
  const entry = models.find(({ id, aliases = [] }) => id === body.model || aliases.includes(body.model ?? ""));
  if (body.model !== undefined && !entry)
    throw new ApiError(
      "invalid_model",
      `model: unknown model ${body.model.slice(0, 100)}. Available: ${models.map(({ id }) => id).join(", ")}.`,
    );
  const id = `resp_${randomBytes(24).toString("hex")}`;
  const chosen = chooseModel(entry?.id, settings, noRetries);
  const cacheKey = cacheKeyOf(principal.teamId, body.prompt_cache_key ?? id);
  const request = modelRequestOf(body, { model: chosen.id, callId: id, cacheKey });
  const price = priceOf(chosen.id, settings);
  const inputTokens = inputTokensOf(request);
  const estimate = { price, inputTokens, maxOutputTokens: request.maxOutputTokens };
  const maxOutputTokens = await reserve(db, { id, principal, model: chosen.id, ...estimate });
  return { id, chosen, request: { ...request, maxOutputTokens }, price, inputTokens };
}

/** Scoped to the team, so that teams never share a provider's prompt cache. Hashed, because it is sent as a header. */
const cacheKeyOf = (teamId: number, reported: string): string =>
  createHash("sha256").update(`${teamId}:${reported}`).digest("hex").slice(0, 32);

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

/** Throws an API error if the call failed before any event was sent. */
export async function executeCall(
  platform: PlatformContext,
  call: AdmittedCall,
  events: ResponseEvents,
  signal: AbortSignal,
): Promise<InferenceResponse> {
  const meter = openMeter();
  const reported = await call.chosen.model.reply(
    call.request,
    (progress) => {
      meter.take(progress);
      events.take(progress);
    },
    signal,
  );
  const reply = withEstimatedUsage(reported, call.inputTokens);
  const charge = chargeOf(reply, call, meter.outputTokens());
  await recordCharge(platform, call, charge);
  if (reply.kind === "replied") return events.complete(reply);
  const { fault } = reply;
  if (fault.incomplete) return events.breakOff(fault.incomplete, charge.usage);
  platform.log.warn("inference.failed", {
    callId: call.id,
    model: call.chosen.id,
    code: fault.code,
    status: fault.status,
  });
  if (!events.hasBegun()) throw toApiError(fault, call.chosen.id);
  return events.fail(toStreamError(fault, call.chosen.id));
}

/** Some servers report no usage. */
function withEstimatedUsage(reply: ModelReply, inputTokens: number): ModelReply {
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
  if (isRejected(fault) && outputTokens === 0) return { status: "failed", usage: tokens(0, 0), costUsd: 0 };
  return priced(isCut ? "cut" : "failed", tokens(inputTokens, outputTokens), price);
}

const priced = (status: Charge["status"], usage: Charge["usage"], price: Price): Charge => ({
  status,
  usage,
  costUsd: price(usage),
});

/** If the charge cannot be stored, the reservation stays spent. */
async function recordCharge(
  { db, log, metrics }: PlatformContext,
  { id, chosen }: AdmittedCall,
  charge: Charge,
): Promise<void> {
  const labels = { model: chosen.id, status: charge.status };
  metrics.counter("platform_inference_calls_total", "Model calls by API clients").add(labels);
  const used = metrics.counter("platform_inference_tokens_total", "Tokens of model calls by API clients");
  used.add({ model: chosen.id, kind: "input" }, charge.usage.inputTokens);
  used.add({ model: chosen.id, kind: "output" }, charge.usage.outputTokens);
  await settle(db, id, charge).catch((error: unknown) => log.error("inference.unsettled", error, { callId: id }));
}
