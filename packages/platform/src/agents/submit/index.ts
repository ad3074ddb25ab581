// The one way to create agents and runs.
export { type IdempotencyKey, idempotencyRetention } from "./idempotency.ts";
export type { CreateAgentRequest, CreateRunRequest } from "./insert.ts";
export { checkAllowedModels, checkDefaultModel, checkModel } from "./policy.ts";
export { type CreatedAgent, type CreatedRun, openSubmit, type Submission, type Submit } from "./submit.ts";
