// A handle on one agent: the first prompt creates it, later ones are runs of the same conversation.
import type { Run as WireRun } from "@agentcli/protocol/api";
import { type AgentUsage, type Artifact, downloadArtifact, listArtifacts, readUsage } from "./agent-files.ts";
import { createBody, runBody } from "./body.ts";
import type { Connection } from "./connection.ts";
import { ConfigurationError, PlatformAgentError } from "./errors.ts";
import type { AgentOptions, ModelSelection, SendOptions, UserMessage } from "./options.ts";
import { fieldsOf } from "./refusal.ts";
import { openRun, type Run } from "./run.ts";
import type { Surroundings } from "./surroundings.ts";

export interface SDKAgent {
  /** Throws before the first `send` of an agent with `envVars`: the platform chooses its id. */
  readonly agentId: string;
  readonly model: ModelSelection | undefined;
  /** Throws AgentBusyError while a run is under way. */
  send(message: UserMessage, options?: SendOptions): Promise<Run>;
  listArtifacts(): Promise<Artifact[]>;
  downloadArtifact(path: string): Promise<Buffer>;
  getUsage(): Promise<AgentUsage>;
  /** Makes sure that the agent is still there. A cloud agent keeps nothing here that could be out of date. */
  reload(): Promise<void>;
  /** Ends whatever follows runs of this handle. The agent and its runs go on. */
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export interface AgentContext {
  connection: Connection;
  surroundings: Surroundings;
  options: AgentOptions;
}

/** `known`: the agent is there already. `new`: the first prompt creates it. */
export type AgentBirth = { kind: "known"; agentId: string } | { kind: "new"; agentId: string | undefined };

export function openAgent(birth: AgentBirth, { connection, surroundings, options }: AgentContext): SDKAgent {
  const closing = new AbortController();
  const { signal } = closing;
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
    const idempotencyKey =
      send.idempotencyKey ?? options.idempotencyKey ?? repeated ?? `sdk-create-${surroundings.newId()}`;
    const isSecond = begun !== undefined;
    begun = { body: text, idempotencyKey };
    const request = { operation: "agents.create", method: "POST", path: "/v1/agents", body, idempotencyKey } as const;
    try {
      const answer = await connection.ask<{ agent: { id: string }; run: WireRun }>(request, signal);
      current = { kind: "known", agentId: createdId(answer.agent, current.agentId) };
      return answer.run;
    } catch (error) {
      const isOurs = isSecond && error instanceof PlatformAgentError && error.code === "agent_id_conflict";
      if (!isOurs || current.agentId === undefined) throw error;
      // An earlier prompt did create it, and only its answer was lost.
      current = { kind: "known", agentId: current.agentId };
      return followUp(message, send);
    }
  }

  async function followUp(message: UserMessage, send: SendOptions): Promise<WireRun> {
    const body = runBody(message, options, { ...send, ...(chosenModel && { model: chosenModel }) });
    const idempotencyKey = send.idempotencyKey ?? `sdk-run-${surroundings.newId()}`;
    const path = `/v1/agents/${idOf(current)}/runs`;
    const request = { operation: "agent.send", method: "POST", path, body, idempotencyKey } as const;
    return (await connection.ask<{ run: WireRun }>(request, signal)).run;
  }

  return {
    get agentId() {
      return idOf(current);
    },
    get model() {
      return model;
    },
    async send(message, send = {}) {
      if (signal.aborted) throw signal.reason;
      if (send.model) [model, chosenModel] = [send.model, send.model];
      const run = current.kind === "new" ? await create(message, send) : await followUp(message, send);
      return openRun(run, { connection, surroundings, signal, ...(model && { model }), observers: send });
    },
    listArtifacts: async () => listArtifacts(connection, idOf(current), signal),
    downloadArtifact: async (path) => downloadArtifact(connection, { agentId: idOf(current), path }, signal),
    getUsage: async () => readUsage(connection, { agentId: idOf(current) }, signal),
    async reload() {
      if (current.kind === "new") return;
      const path = `/v1/agents/${current.agentId}`;
      await connection.ask({ operation: "agent.reload", method: "GET", path }, signal);
    },
    close: () => closing.abort(closed()),
    async [Symbol.asyncDispose]() {
      closing.abort(closed());
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

function createdId(agent: unknown, wished: string | undefined): string {
  const { id } = fieldsOf(agent);
  if (typeof id === "string" && (wished === undefined || id === wished)) return id;
  throw new PlatformAgentError(`The platform answered with the mismatched agent id ${String(id)} for ${wished}.`, {
    code: "agent_id_mismatch",
    operation: "agents.create",
  });
}

const closed = (): PlatformAgentError =>
  new PlatformAgentError("This agent was closed. Get a new handle with Agent.resume.", { code: "closed" });
