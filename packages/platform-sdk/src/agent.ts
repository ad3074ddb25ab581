// A handle on one agent: the first prompt creates it, later ones are runs of the same conversation.
import { type AgentUsage, type Artifact, downloadArtifact, listArtifacts, readUsage } from "./agent-files.ts";
import { cloudBackend } from "./cloud-run.ts";
import { ConfigurationError, PlatformAgentError } from "./errors.ts";
import type { GetUsageOptions, ModelSelection, SendOptions, UserMessage } from "./options.ts";
import { type AgentBirth, type AgentContext, openPrompts } from "./prompts.ts";
import { openRun, type Run } from "./run.ts";

export interface SDKAgent {
  /** Throws before the first `send` of an agent with `envVars`: the platform chooses its id. */
  readonly agentId: string;
  readonly model: ModelSelection | undefined;
  /** Throws AgentBusyError while a run is under way. */
  send(message: UserMessage, options?: SendOptions): Promise<Run>;
  listArtifacts(): Promise<Artifact[]>;
  downloadArtifact(path: string): Promise<Buffer>;
  getUsage(options?: GetUsageOptions): Promise<AgentUsage>;
  /** Makes sure that the agent is still there. A local agent reads its hooks anew with the next prompt. */
  reload(): Promise<void>;
  /** Ends whatever follows runs of this handle. The agent goes on, and so do its runs but for those on this machine. */
  close(): void;
  [Symbol.asyncDispose](): Promise<void>;
}

export function openAgent(birth: AgentBirth, context: AgentContext): SDKAgent {
  const { connection, runtime } = context;
  const closing = new AbortController();
  const { signal } = closing;
  const prompts = openPrompts(birth, context, signal);
  return {
    get agentId() {
      return prompts.agentId();
    },
    get model() {
      return prompts.model();
    },
    async send(message, send = {}) {
      if (signal.aborted) throw signal.reason;
      if (send.local?.customTools) throw onlyLocal();
      const run = await prompts.deliver(message, send);
      const model = prompts.model();
      const backend = cloudBackend(run, connection, runtime);
      return openRun(run, { backend, signal, ...(model && { model }), observers: send });
    },
    listArtifacts: async () => (prompts.isCreated() ? listArtifacts(connection, prompts.agentId(), signal) : []),
    async downloadArtifact(path) {
      if (!prompts.isCreated()) throw notCreated("artifacts.download");
      return downloadArtifact(connection, { agentId: prompts.agentId(), path }, signal);
    },
    getUsage: async ({ runId } = {}) => readUsage(connection, { agentId: prompts.agentId(), runId }, signal),
    async reload() {
      if (!prompts.isCreated()) return;
      const path = `/v1/agents/${prompts.agentId()}`;
      await connection.ask({ operation: "agent.reload", method: "GET", path }, signal);
    },
    close: () => closing.abort(closed()),
    async [Symbol.asyncDispose]() {
      closing.abort(closed());
    },
  };
}

export const closed = (): PlatformAgentError =>
  new PlatformAgentError("This agent was closed. Get a new handle with Agent.resume.", { code: "closed" });

const notCreated = (operation: string): ConfigurationError =>
  new ConfigurationError("This agent does not exist yet. Call send() first to create it.", {
    code: "agent_not_created",
    operation,
  });

const onlyLocal = (): ConfigurationError =>
  new ConfigurationError(
    "local.customTools are for local agents: the platform cannot call functions of this process.",
    {
      code: "invalid_option",
      operation: "agent.send",
    },
  );
