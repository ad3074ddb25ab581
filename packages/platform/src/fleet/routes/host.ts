// What the routes of the fleet share: their host, their paths, and that they are for service accounts.
import { ApiError, type Authenticate, type Principal, type ServerContext } from "../../foundation/index.ts";
import type { Principals } from "../../identity/index.ts";
import type { PoolOwner } from "../pools.ts";
import type { WatchPending } from "../watch.ts";

export interface FleetHost {
  platform: ServerContext;
  principals: Principals;
  authenticate: Authenticate;
  watch: WatchPending;
}

/** The same routes twice. */
export const bases = [
  { workers: "/v0/private-workers", pools: "/v0/private-workers/pools", tag: "v0" },
  { workers: "/v1/workers", pools: "/v1/pools", tag: "Workers" },
] as const;
export type Base = (typeof bases)[number];

/** Throws `forbidden` for users. */
export function ownerOf(principal: Principal): PoolOwner {
  if (principal.kind === "service_account")
    return { teamId: principal.teamId, serviceAccountId: principal.serviceAccountId };
  throw new ApiError(
    "forbidden",
    "Workers and pools are managed with the key of a service account. Create one with: platform keys create --name NAME --service-account.",
  );
}
