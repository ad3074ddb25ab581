// Every way a request to the platform can fail: the code on the wire and its HTTP status.
import { z } from "zod";

export const problemStatus = {
  validation_error: 400,
  invalid_model: 400,
  invalid_last_event_id: 400,
  repository_access: 400,
  integration_not_connected: 400,
  worker_in_use: 400,
  no_turn_waiting: 400,
  worker_connected: 400,
  unauthorized: 401,
  forbidden: 403,
  team_admin_required: 403,
  team_membership_required: 403,
  user_required: 403,
  key_not_supported: 403,
  spend_limit_reached: 403,
  not_found: 404,
  agent_not_found: 404,
  run_not_found: 404,
  artifact_not_found: 404,
  repository_not_found: 404,
  pull_request_not_found: 404,
  delivery_not_found: 404,
  environment_not_found: 404,
  build_not_found: 404,
  secret_not_found: 404,
  automation_not_found: 404,
  memory_not_found: 404,
  subscription_not_found: 404,
  webhook_key_not_found: 404,
  firing_not_found: 404,
  backtest_not_found: 404,
  event_source_not_found: 404,
  worker_not_found: 404,
  pool_not_found: 404,
  pending_request_not_found: 404,
  claim_not_found: 404,
  method_not_allowed: 405,
  agent_busy: 409,
  backtest_active: 409,
  machine_not_running: 409,
  agent_archived: 409,
  agent_id_conflict: 409,
  run_not_cancellable: 409,
  idempotency_conflict: 409,
  repository_name_conflict: 409,
  pull_request_conflict: 409,
  environment_name_conflict: 409,
  build_not_cancellable: 409,
  build_not_ready: 409,
  secret_name_conflict: 409,
  secret_name_ambiguous: 409,
  secret_scope_conflict: 409,
  secret_limit_reached: 409,
  event_source_limit_reached: 409,
  automation_name_conflict: 409,
  automation_disabled: 409,
  request_claimed: 409,
  pool_limit_reached: 409,
  stream_expired: 410,
  cursor_expired: 410,
  payload_too_large: 413,
  rate_limited: 429,
  event_limit_reached: 429,
  internal: 500,
  unavailable: 503,
} as const;

export type ProblemCode = keyof typeof problemStatus;

export const ProblemBody = z
  .object({
    error: z.object({
      code: z.enum(Object.keys(problemStatus) as [ProblemCode, ...ProblemCode[]]),
      message: z.string().describe("For people: the thing, what is wrong with it and what to do next"),
      helpUrl: z.string().optional(),
      provider: z.string().optional(),
      environmentId: z.string().optional(),
      versions: z
        .array(z.object({ id: z.string(), repos: z.array(z.string()) }))
        .optional()
        .describe("Of the secret, where its name is ambiguous"),
    }),
  })
  .meta({ id: "Problem" });
export type ProblemBody = z.infer<typeof ProblemBody>;
