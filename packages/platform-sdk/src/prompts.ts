// Prompts on their way to an agent: the first creates it, later ones are runs. A lost answer makes nothing twice.
import type { Run as WireRun } from "@agentcli/protocol/api";
import { createBody, runBody } from "./body.ts";
import type { Connection } from "./connection.ts";
import { ConfigurationError, PlatformAgentError } from "./errors.ts";
import type { AgentOptions, ModelSelection, SendOptions, UserMessage } from "./options.ts";
import { fieldsOf } from "./refusal.ts";
import type { Runtime } from "./runtime.ts";

export interface Prompts {
  /** Throws where only the platform can choose it and has not yet. */
  agentId(): string;
  isCreated(): boolean;
  model(): ModelSelection | undefined;
  deliver(message: UserMessage, send: SendOptions): Promise<WireRun>;
}

export interface AgentContext {
  connection: Connection;
  runtime: Runtime;
  options: AgentOptions;
}

/** `known`: the agent is there already. `new`: the first prompt creates it. */
export type AgentBirth =
  | { kind: "known"; agentId: string }
  | { kind: "new"; agentId: string; chosenBy: "caller" | "chance" }
  | { kind: "new"; agentId: undefined; chosenBy: "platform" };

export function openPrompts(birth: AgentBirth, context: AgentContext, signal: AbortSignal): Prompts {
  const { connection, runtime, options } = context;
  let current = birth;
  let model = options.model;
  // What a prompt changed for all that follow, and the platform does not keep.
  let chosenModel: ModelSelection | undefined;
  let begun: { body: string; idempotencyKey: string } | undefined;

  async function create(message: UserMessage, send: SendOptions): Promise<WireRun> {
    const body = createBody(current.agentId, message, options, send);
    const text = JSON.stringify(body);
    // The same prompt after a lost answer is the same request: the platform answers it as the first time.
    const repeated = begun?.body === text ? begun.idempotencyKey : undefined;
    const idempotencyKey = send.idempotencyKey ?? options.idempotencyKey ?? repeated ?? `sdk-create-${runtime.newId()}`;
    const isSecond = begun !== undefined;
    begun = { body: text, idempotencyKey };
    const request = { operation: "agents.create", method: "POST", path: "/v1/agents", body, idempotencyKey } as const;
    try {
      const answer = await connection.ask<{ agent: { id: string }; run: WireRun }>(request, signal);
      current = { kind: "known", agentId: createdId(answer.agent, current.agentId) };
      return answer.run;
    } catch (error) {
      const isConflict = error instanceof PlatformAgentError && error.code === "agent_id_conflict";
      if (!isConflict || current.agentId === undefined) throw error;
      if (isSecond) {
        // An earlier prompt did create it, and only its answer was lost.
        current = { kind: "known", agentId: current.agentId };
        return followUp(message, send);
      }
      if (current.kind === "new" && current.chosenBy === "caller") throw error;
      current = { kind: "new", agentId: `bc-${runtime.newId()}`, chosenBy: "caller" };
      begun = undefined;
      return create(message, send);
    }
  }

  async function followUp(message: UserMessage, send: SendOptions): Promise<WireRun> {
    const body = runBody(message, options, { ...(chosenModel && { model: chosenModel }), ...send });
    const idempotencyKey = send.idempotencyKey ?? `sdk-run-${runtime.newId()}`;
    const path = `/v1/agents/${idOf(current)}/runs`;
    const request = { operation: "agent.send", method: "POST", path, body, idempotencyKey } as const;
    return (await connection.ask<{ run: WireRun }>(request, signal)).run;
  }

  return {
    agentId: () => idOf(current),
    isCreated: () => current.kind === "known",
    model: () => model,
    async deliver(message, send) {
      const run = await (current.kind === "new" ? create(message, send) : followUp(message, send));
      if (send.model) [model, chosenModel] = [send.model, send.model];
      return run;
    },
  };
}

function idOf({ agentId }: AgentBirth): string {
  if (agentId !== undefined) return agentId;
  throw new ConfigurationError("An agent with envVars gets its id from the platform with the first send.", {
    code: "agent_not_created",
    operation: "agent.agentId",
  });
}

function createdId(agent: unknown, requested: string | undefined): string {
  const { id } = fieldsOf(agent);
  if (typeof id === "string" && (requested === undefined || id === requested)) return id;
  throw new PlatformAgentError(`The platform answered with the mismatched agent id ${String(id)} for ${requested}.`, {
    code: "agent_id_mismatch",
    operation: "agents.create",
  });
}
