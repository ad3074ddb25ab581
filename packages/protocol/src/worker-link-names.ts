// What workers and the platform need of the link before anything was asked: loaded at their start, without schemas.

/** Raised when one side must understand more than before; a side understands its own version and the one before. */
export const linkVersion = 1;

/** Refuses `agent.claim`: the worker is for one agent alone, and has had another. */
export const alreadyUsed = "already_used";

/** The request of a worker for an identity token; a platform that offers it signs them. */
export const identityRequest = "identity.token";

/** The path that workers connect to. */
export const workerPath = "/v1/worker/stream";

/** What a worker reports of its machine: memory is almost used up, or the worker hardly runs. */
export const workerHealths = ["well", "memory", "starved"] as const;
