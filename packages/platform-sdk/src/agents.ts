// `Agent`: agents on the platform and on this machine, told apart by their options and ids.
import type { AgentCalls } from "./agent-calls.ts";
import { cloudAgents } from "./cloud-agents.ts";
import { openDefaults } from "./defaults.ts";
import { ConfigurationError } from "./errors.ts";
import { isCloudAgentId } from "./ids.ts";
import type { AgentOptions, RunOptions } from "./options.ts";
import type { Runtime } from "./runtime.ts";

export function agentCalls(runtime: Runtime, defaults = openDefaults()): AgentCalls {
  const cloud = cloudAgents(runtime);
  let opening: Promise<AgentCalls> | undefined;
  /** Loaded when first used: it is the whole engine, and most programs only ask the platform. */
  const local = () => {
    opening ??= import("./local/index.ts").then(({ localAgents }) => localAgents(runtime, defaults));
    return opening;
  };
  const byOptions = async (options: AgentOptions): Promise<AgentCalls> => {
    checkSubagents(options);
    return isLocal(options) ? local() : cloud;
  };
  const byId = async (agentId: string): Promise<AgentCalls> => (isCloudAgentId(agentId) ? cloud : local());
  const byRuntime = async (runtime: "cloud" | "local" | undefined) => (runtime === "local" ? local() : cloud);
  /** Without an agent's id only the store of this machine knows whose run it is. */
  const byRun = async ({ agentId, runtime = "local" }: RunOptions): Promise<AgentCalls> =>
    agentId === undefined ? byRuntime(runtime) : byId(agentId);
  return {
    create: async (options = {}) => (await byOptions(options)).create(options),
    prompt: async (message, options = {}) => (await byOptions(options)).prompt(message, options),
    resume: async (agentId, options) => (await byId(agentId)).resume(agentId, options),
    list: async (options = {}) => (await byRuntime(options.runtime)).list(options),
    get: async (agentId, options) => (await byId(agentId)).get(agentId, options),
    listRuns: async (agentId, options) => (await byId(agentId)).listRuns(agentId, options),
    getRun: async (runId, options = {}) => (await byRun(options)).getRun(runId, options),
    cancelRun: async (runId, options = {}) => (await byRun(options)).cancelRun(runId, options),
    archive: async (agentId, options) => (await byId(agentId)).archive(agentId, options),
    unarchive: async (agentId, options) => (await byId(agentId)).unarchive(agentId, options),
    delete: async (agentId, options) => (await byId(agentId)).delete(agentId, options),
    getUsage: async (agentId, options) => (await byId(agentId)).getUsage(agentId, options),
    messages: { list: async (agentId, options) => (await byId(agentId)).messages.list(agentId, options) },
  };
}

function isLocal({ local, cloud, ...options }: AgentOptions): boolean {
  if (local && cloud) throw invalid("Pass local or cloud, not both.");
  const misplaced = (["tools", "disallowedTools", "systemPrompt"] as const).find((name) => options[name] !== undefined);
  if (!local && misplaced) throw invalid(`${misplaced} is for local agents. Leave it out, or pass local.`);
  return local !== undefined;
}

function checkSubagents({ agents = {} }: AgentOptions): void {
  for (const [name, { mcpServers = [] }] of Object.entries(agents))
    if (mcpServers.some((server) => typeof server !== "string"))
      throw invalid(`agents.${name}.mcpServers: name servers of the agent; a sub-agent has none of its own.`);
}

const invalid = (message: string): ConfigurationError =>
  new ConfigurationError(message, { code: "invalid_option", operation: "Agent.create" });
