// Agents on the platform: every call is a request.
import type { AgentListItem, Run as WireRun } from "@agentcli/protocol/api";
import { listModels } from "./account.ts";
import { openAgent } from "./agent.ts";
import type { AgentCalls, CloudAgentInfo, Page } from "./agent-calls.ts";
import { readUsage } from "./agent-files.ts";
import { isFilled } from "./body.ts";
import { cloudBackend } from "./cloud-run.ts";
import { type Connection, openConnection } from "./connection.ts";
import { AuthenticationError, ConfigurationError, NetworkError, RateLimitError } from "./errors.ts";
import { checkAgentId, checkRunId } from "./ids.ts";
import type { AgentOptions, ConnectionOptions, ListCloudAgents, ModelSelection, RunOptions } from "./options.ts";
import type { AgentBirth } from "./prompts.ts";
import { openRun } from "./run.ts";
import type { Runtime } from "./runtime.ts";

// A list of calls, each of a few lines.
export function cloudAgents(runtime: Runtime): AgentCalls {
  const never = new AbortController().signal;
  const connect = (options: ConnectionOptions) => openConnection(options, runtime);
  const runOf = (run: WireRun, connection: Connection, signal = never) =>
    openRun(run, { backend: cloudBackend(run, connection, runtime), signal });

  const create: AgentCalls["create"] = async (options = {}) => {
    const connection = connect(options);
    const birth = birthOf(options, runtime);
    if (options.model) await checkModel(connection, options.model, never);
    return openAgent(birth, { connection, runtime, options });
  };

  return {
    create,
    async resume(agentId, options = {}) {
      const id = checkAgentId(agentId, "Agent.resume");
      return openAgent({ kind: "known", agentId: id }, { connection: connect(options), runtime, options });
    },
    async prompt(message, options) {
      const agent = await create(options);
      try {
        return await (await agent.send(message)).wait();
      } finally {
        agent.close();
      }
    },
    async list(filter = {}) {
      const { limit, cursor, prUrl, includeArchived, source, ...options } = filter as ListCloudAgents;
      const query = { limit, cursor, prUrl, includeArchived, source };
      const request = { operation: "agents.list", method: "GET", path: "/v1/agents", query } as const;
      const page = await connect(options).ask<Page<AgentListItem>>(request, never);
      return { ...page, items: page.items.map(infoOf) };
    },
    async get(agentId, options = {}) {
      const path = `/v1/agents/${checkAgentId(agentId, "Agent.get")}`;
      return infoOf(await connect(options).ask({ operation: "agents.get", method: "GET", path }, never));
    },
    async listRuns(agentId, { limit, cursor, ...options } = {}) {
      const path = `/v1/agents/${checkAgentId(agentId, "Agent.listRuns")}/runs`;
      const connection = connect(options);
      const request = { operation: "runs.list", method: "GET", path, query: { limit, cursor } } as const;
      const page = await connection.ask<Page<WireRun>>(request, never);
      return { ...page, items: page.items.map((run) => runOf(run, connection)) };
    },
    async getRun(runId, options = {}) {
      const connection = connect(options);
      const path = runPath(runId, options, "Agent.getRun");
      const { signal = never } = options;
      const run = await connection.ask<WireRun>({ operation: "runs.get", method: "GET", path }, signal);
      return runOf(run, connection, signal);
    },
    async cancelRun(runId, options = {}) {
      const path = `${runPath(runId, options, "Agent.cancelRun")}/cancel`;
      await connect(options).ask({ operation: "runs.cancel", method: "POST", path }, never);
    },
    async archive(agentId, options = {}) {
      const path = `/v1/agents/${checkAgentId(agentId, "Agent.archive")}/archive`;
      await connect(options).ask({ operation: "agents.archive", method: "POST", path }, never);
    },
    async unarchive(agentId, options = {}) {
      const path = `/v1/agents/${checkAgentId(agentId, "Agent.unarchive")}/unarchive`;
      await connect(options).ask({ operation: "agents.unarchive", method: "POST", path }, never);
    },
    async delete(agentId, options = {}) {
      const path = `/v1/agents/${checkAgentId(agentId, "Agent.delete")}`;
      await connect(options).ask({ operation: "agents.delete", method: "DELETE", path, retry: "never" }, never);
    },
    async getUsage(agentId, { runId, ...options } = {}) {
      const id = checkAgentId(agentId, "Agent.getUsage");
      const one = runId === undefined ? {} : { runId: checkRunId(runId, "Agent.getUsage") };
      return readUsage(connect(options), { agentId: id, ...one }, never);
    },
    messages: {
      async list() {
        throw new ConfigurationError("Messages can be listed only for local agents. Use run.conversation().", {
          code: "unsupported",
          operation: "Agent.messages.list",
        });
      },
    },
  };
}

/** The platform chooses the id where there are variables: they are sealed under a key that is made with it. */
function birthOf({ agentId, cloud }: AgentOptions, { newId }: Runtime): AgentBirth {
  if (agentId === undefined && isFilled(cloud?.envVars)) return { kind: "new", agentId, chosenBy: "platform" };
  if (agentId === undefined) return { kind: "new", agentId: `bc-${newId()}`, chosenBy: "chance" };
  if (!isFilled(cloud?.envVars))
    return { kind: "new", agentId: checkAgentId(agentId, "Agent.create"), chosenBy: "caller" };
  throw new ConfigurationError("agentId cannot be used with cloud.envVars. Leave out agentId.", {
    code: "invalid_option",
    operation: "Agent.create",
  });
}

/** What cannot be asked now is left to the platform, which checks again. */
export async function checkModel(connection: Connection, { id }: ModelSelection, signal: AbortSignal): Promise<void> {
  try {
    const models = await listModels(connection, "never", signal);
    if (models.some((model) => model.id === id || model.aliases?.includes(id))) return;
    const names = models.map((model) => model.id).join(", ");
    throw new ConfigurationError(`Unknown model ${id}. Available: ${names}.`, {
      code: "invalid_model",
      operation: "Agent.create",
    });
  } catch (error) {
    const isSkipped =
      error instanceof NetworkError || error instanceof AuthenticationError || error instanceof RateLimitError;
    if (!isSkipped) throw error;
  }
}

const runPath = (runId: string, { agentId = "" }: RunOptions, operation: string): string =>
  `/v1/agents/${checkAgentId(agentId, operation)}/runs/${checkRunId(runId, operation)}`;

const agentStatuses = {
  ACTIVE: { status: "running", archived: false },
  IDLE: { status: "finished", archived: false },
  ARCHIVED: { archived: true },
} as const;

function infoOf({ id, status, name = "", repos, createdAt, updatedAt, ...more }: AgentListItem): CloudAgentInfo {
  return {
    ...more,
    ...{ agentId: id, runtime: "cloud", name, summary: name, ...agentStatuses[status] },
    ...{ createdAt: Date.parse(createdAt), lastModified: Date.parse(updatedAt) },
    ...(repos && { repos: repos.map(({ url }) => url) }),
  };
}
