// Claims: a controller takes a waiting request for a worker, gets tokens for it, gives it back, or reports that it failed.
import { z } from "zod";
import { type Api, schema } from "../../foundation/index.ts";
import { claimRequest, failClaim, releaseClaim } from "../claims.ts";
import { createToken } from "../tokens.ts";
import { type Base, type FleetHost, ownerOf } from "./host.ts";

const params = () => z.object({ id: z.string().max(100) });

export function addClaimRoutes(api: Api, host: FleetHost, base: Base): void {
  addClaiming(api, host, base);
  addEnding(api, host, base);
}

function addClaiming(api: Api, { platform: { db } }: FleetHost, { workers, tag }: Base): void {
  api.route(
    {
      ...{
        method: "post",
        path: `${workers}/claim`,
        tag,
        scope: "agents:write",
        body: schema("workers", "ClaimRequest"),
      },
      summary: "Claim a pending request for a worker, which may connect later",
      answer: {
        status: 200,
        schema: schema("workers", "ClaimAnswer"),
        description: "The claim, and a token where one was asked for",
      },
      problems: ["pending_request_not_found", "request_claimed", "worker_in_use"],
    },
    ({ principal, body }) => claimRequest(db, { ...ownerOf(principal), principal }, body),
  );
  api.route(
    {
      ...{
        method: "post",
        path: `${workers}/tokens`,
        tag,
        scope: "agents:write",
        body: schema("workers", "ClaimTokenRequest"),
      },
      summary: "Get another token for the worker of a claim",
      answer: {
        status: 200,
        schema: schema("workers", "ClaimToken"),
        description: "It connects this worker, and nothing else",
      },
      problems: ["claim_not_found"],
    },
    ({ principal, body }) => {
      ownerOf(principal);
      return createToken(db, principal, body);
    },
  );
}

function addEnding(api: Api, { platform }: FleetHost, { workers, tag }: Base): void {
  const shared = { method: "post", tag, scope: "agents:write", params } as const;
  const answer = { status: 200, schema: schema("workers", "Claim"), description: "The claim that has ended" } as const;
  api.route(
    {
      ...{ ...shared, path: `${workers}/claims/{id}/release`, answer },
      summary: "Release the worker of an agent that has no turn under way",
      problems: ["claim_not_found", "worker_in_use"],
    },
    ({ principal, params: { id } }) => releaseClaim(platform.db, ownerOf(principal), id.toLowerCase()),
  );
  api.route(
    {
      ...{ ...shared, path: `${workers}/claims/{id}/fail`, answer, body: schema("workers", "FailRequest") },
      summary: "End the waiting turn of a claim whose worker cannot be started",
      problems: ["claim_not_found", "no_turn_waiting", "worker_connected"],
    },
    ({ principal, params: { id }, body: { message } }) =>
      failClaim(platform, ownerOf(principal), { id: id.toLowerCase(), message }),
  );
}
