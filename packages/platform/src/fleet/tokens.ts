// Tokens of claims: each connects the one worker that a request was claimed for, and nothing else.
import type { Claim, ClaimToken } from "@agentcli/protocol/api";
import { type Kysely, sql } from "kysely";
import { ApiError, type Principal, type Tables } from "../foundation/index.ts";
import { hashKey, isSameHash, keyIdOf, makeKey, type Principals } from "../identity/index.ts";
import { poolOwnerOfAgent } from "./pools.ts";

const lifetimeDays = 7;

/** Valid until it expires, the claim ends, or the key that asked for it is not valid any more. */
export async function createToken(db: Kysely<Tables>, principal: Principal, claim: Claim): Promise<ClaimToken> {
  const { id, key, hash } = makeKey("plw");
  const { rows } = await sql<{ expires_at: Date }>`
    insert into worker_tokens (id, hash, team_id, key_id, agent_id, worker_id, expires_at)
    select ${id}, ${hash}, ${principal.teamId}, ${principal.keyId}, claim.agent_id, claim.worker_id,
      now() + ${lifetimeDays} * interval '1 day'
    from worker_claims claim join agents on agents.id = claim.agent_id
    where claim.agent_id = ${claim.id} and claim.worker_id = ${claim.workerId} and claim.team_id = ${principal.teamId}
      and claim.failed_run_id is null and coalesce(${poolOwnerOfAgent} = ${accountOf(principal)}::uuid, true)
    returning expires_at
  `.execute(db);
  const [row] = rows;
  if (row === undefined)
    throw new ApiError("claim_not_found", `Worker ${claim.workerId} has not claimed ${claim.id.slice(0, 100)}.`);
  return { id: claim.id, workerId: claim.workerId, token: key, expiresAt: row.expires_at.toISOString() };
}

const accountOf = (principal: Principal): string | null =>
  principal.kind === "service_account" ? principal.serviceAccountId : null;

/** What a token allows. */
export interface TokenGrant {
  tokenId: string;
  principal: Principal;
  workerId: string;
  pool: string;
}

const invalid = "Invalid worker token. Ask for another one for this claim.";

/** Null if the text is not such a token. Throws `unauthorized`. */
export async function readToken(
  { db, principals }: { db: Kysely<Tables>; principals: Principals },
  authorization: string | undefined,
): Promise<TokenGrant | null> {
  const token = /^bearer +(\S+)$/i.exec(authorization?.trim() ?? "")?.[1] ?? "";
  const tokenId = keyIdOf(token, "plw");
  if (tokenId === null) return null;
  const [row] = await findTokens(db, [tokenId]);
  if (row === undefined || !isSameHash(row.hash, hashKey(token))) throw new ApiError("unauthorized", invalid);
  if (!row.is_live) throw new ApiError("unauthorized", "The worker token has expired. Ask for another one.");
  const principal = await principals.find(row.key_id);
  if (principal === null)
    throw new ApiError("unauthorized", "The key that this worker token was made with is not valid any more.");
  return { tokenId, principal, workerId: row.worker_id, pool: row.pool };
}

/** Without those whose claim has ended. */
export async function liveTokens(db: Kysely<Tables>, tokenIds: string[]): Promise<Set<string>> {
  const rows = tokenIds.length === 0 ? [] : await findTokens(db, tokenIds);
  return new Set(rows.flatMap(({ id, is_live }) => (is_live ? id : [])));
}

interface TokenRow {
  id: string;
  hash: Buffer;
  key_id: string;
  worker_id: string;
  pool: string;
  is_live: boolean;
}

/** By the clock of the database: those of servers may differ. */
async function findTokens(db: Kysely<Tables>, tokenIds: string[]): Promise<TokenRow[]> {
  const { rows } = await sql<TokenRow>`
    select token.id, token.hash, token.key_id, token.worker_id, workers.pool, token.expires_at > now() as is_live
    from worker_tokens token
      join worker_claims claim on claim.agent_id = token.agent_id and claim.worker_id = token.worker_id
      join workers on workers.team_id = token.team_id and workers.id = token.worker_id
    where token.id = any(${tokenIds}::text[])
  `.execute(db);
  return rows;
}
