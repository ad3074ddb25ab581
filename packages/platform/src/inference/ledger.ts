// Model calls in the database, inserted before they are made: the reservation counts as spent until the call is settled.
import type { Usage } from "@agentcli/protocol";
import type { Kysely } from "kysely";
import { ApiError, retryWhileAway, type Tables } from "../foundation/index.ts";
import type { Principal } from "../identity/index.ts";
import { leftToSpend, priceUnknown, spendLimitReached } from "../runs/index.ts";
import { admit, type CallEstimate } from "./estimate.ts";

export interface NewCall extends Omit<CallEstimate, "leftUsd"> {
  id: string;
  principal: Principal;
  model: string;
}

/** Returns the limit of output tokens; undefined for none. */
export async function reserve(db: Kysely<Tables>, call: NewCall): Promise<number | undefined> {
  const { id, principal, model } = call;
  const owner = {
    team_id: principal.teamId,
    user_id: principal.kind === "user" ? principal.userId : null,
    service_account_id: principal.kind === "service_account" ? principal.serviceAccountId : null,
  };
  return db.transaction().execute(async (tx) => {
    // Locks the team row, so that each call sees the reservations made before it.
    await tx.selectFrom("teams").select("id").where("id", "=", owner.team_id).forNoKeyUpdate().execute();
    const leftUsd = await leftToSpend(tx, { teamId: owner.team_id, userId: owner.user_id });
    const admission = admit({ ...call, leftUsd });
    if (admission.kind !== "admitted") throw refusal(admission.kind, model);
    const { reservedUsd, maxOutputTokens } = admission;
    const cost = reservedUsd === null ? null : String(reservedUsd);
    await tx
      .insertInto("inference_calls")
      .values({ id, ...owner, model, status: "open", cost_usd: cost, ended_at: null })
      .execute();
    return maxOutputTokens;
  });
}

function refusal(kind: "spent" | "unpriced", model: string): ApiError {
  return kind === "spent"
    ? new ApiError("spend_limit_reached", spendLimitReached)
    : new ApiError("invalid_model", priceUnknown({ id: model }));
}

export interface Charge {
  status: "completed" | "incomplete" | "failed" | "cut";
  usage: Usage;
  costUsd: number | null;
}

export async function settle(db: Kysely<Tables>, id: string, { status, usage, costUsd }: Charge): Promise<void> {
  const { inputTokens, cachedInputTokens, cacheWriteInputTokens, outputTokens, reasoningOutputTokens } = usage;
  await retryWhileAway(() =>
    db
      .updateTable("inference_calls")
      .set({
        status,
        input_tokens: Math.max(0, inputTokens - cachedInputTokens - cacheWriteInputTokens),
        output_tokens: outputTokens,
        cache_read_tokens: cachedInputTokens,
        cache_write_tokens: cacheWriteInputTokens,
        reasoning_tokens: reasoningOutputTokens,
        cost_usd: costUsd === null ? null : String(costUsd),
        ended_at: new Date(),
      })
      .where("id", "=", id)
      .execute(),
  );
}
