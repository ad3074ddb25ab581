// `Agent`: agents on the platform and on this machine, told apart by their options and ids.
import type { AgentCalls } from "./agent-calls.ts";
import { cloudAgents } from "./cloud-agents.ts";
import { ConfigurationError } from "./errors.ts";
import { isCloudAgentId } from "./ids.ts";
import type { AgentOptions } from "./options.ts";
import type { Surroundings } from "./surroundings.ts";

export function agentCalls(surroundings: Surroundings): AgentCalls {
  const cloud = cloudAgents(surroundings);
  let opening: Promise<AgentCalls> | undefined;
  /** Loaded when first used: it is the whole engine, and most programs only ask the platform. */
  const local = () => {
    opening ??= import("./local/index.ts").then(({ localAgents }) => localAgents(surroundings));
    return opening;
  };
  const byOptions = async (options: AgentOptions): Promise<AgentCalls> => (isLocal(options) ? local() : cloud);
  const byId = async (agentId: string): Promise<AgentCalls> => (isCloudAgentId(agentId) ? cloud : local());
  const byRuntime = async (runtime: "cloud" | "local" | undefined) => (runtime === "local" ? local() : cloud);
  return {
    create: async (options = {}) => (await byOptions(options)).create(options),
    prompt: async (message, options = {}) => (await byOptions(options)).prompt(message, options),
    resume: async (agentId, options) => (await byId(agentId)).resume(agentId, options),
    list: async (options = {}) => (await byRuntime(options.runtime)).list(options),
    get: async (agentId, options) => (await byId(agentId)).get(agentId, options),
    listRuns: async (agentId, options) => (await byId(agentId)).listRuns(agentId, options),
    getRun: async (runId, options) => (await byId(options.agentId)).getRun(runId, options),
    cancelRun: async (runId, options) => (await byId(options.agentId)).cancelRun(runId, options),
    archive: async (agentId, options) => (await byId(agentId)).archive(agentId, options),
    unarchive: async (agentId, options) => (await byId(agentId)).unarchive(agentId, options),
    delete: async (agentId, options) => (await byId(agentId)).delete(agentId, options),
    getUsage: async (agentId, options) => (await byId(agentId)).getUsage(agentId, options),
    messages: { list: async (agentId, options) => (await byId(agentId)).messages.list(agentId, options) },
  };
}

function isLocal({ local, cloud, ...options }: AgentOptions): boolean {
  if (local && cloud) throw invalid("local and cloud exclude each other. An agent runs in one place.");
  const misplaced = (["tools", "disallowedTools", "systemPrompt"] as const).find((name) => options[name] !== undefined);
  if (!local && misplaced) throw invalid(`${misplaced} is for local agents. Leave it out, or pass local.`);
  return local !== undefined;
}

const invalid = (message: string): ConfigurationError =>
  new ConfigurationError(message, { code: "invalid_option", operation: "Agent.create" });
