// Agents on this machine: the engine in this process, the conversation in a store.
import { resolve } from "node:path";
import type { AgentCalls } from "../agent-calls.ts";
import { checkModel } from "../cloud-agents.ts";
import { openConnection } from "../connection.ts";
import type { Defaults } from "../defaults.ts";
import { ConfigurationError } from "../errors.ts";
import { checkLocalAgentId, checkRunId } from "../ids.ts";
import type { LocalAgentRecord, LocalAgentStore, LocalRunRecord } from "../local-store.ts";
import type { ListLocalAgents, RunOptions } from "../options.ts";
import { openRun, type Run } from "../run.ts";
import type { Runtime } from "../runtime.ts";
import { openLocalAgent } from "./agent.ts";
import { unknownAgent } from "./begin.ts";
import { modelMissing } from "./compose/index.ts";
import { cancelLocal, type LocalContext, localBackend } from "./follow.ts";
import { settleInterrupted } from "./interrupted.ts";
import { machineOf } from "./machine.ts";
import { messagesOf } from "./messages.ts";
import { resolveOptions } from "./options.ts";
import { pageOf } from "./page.ts";
import { infoOf } from "./records.ts";
import { openFileStore } from "./store/files.ts";
import { customTools } from "./tools/index.ts";
import { usageIn } from "./usage.ts";

// A list of calls, each of a few lines.
export function localAgents(runtime: Runtime, defaults: Defaults): AgentCalls {
  const machine = machineOf(runtime);
  const usual = openFileStore(machine.sdkHome);
  const driven: LocalContext["driven"] = new Map();
  const never = new AbortController().signal;
  const contextOf = (store = defaults.localStore() ?? usual): LocalContext => ({ machine, store, driven });

  async function known(agentId: string, operation: string, store?: LocalAgentStore) {
    const context = contextOf(store);
    const agent = await context.store.agents.get(checkLocalAgentId(agentId, operation));
    if (!agent) throw unknownAgent(agentId, operation);
    await settleInterrupted(agent.agentId, context);
    return { agent, context, runs: await context.store.runs.list(agent.agentId) };
  }
  async function knownRun(runId: string, { agentId, store }: RunOptions, operation: string) {
    const id = checkRunId(runId, operation);
    const all = async () => (await contextOf(store).store.agents.list()).map((agent) => agent.agentId);
    for (const owner of agentId === undefined ? await all() : [agentId]) {
      const { runs, context } = await known(owner, operation, store);
      const run = runs.find((each) => each.id === id);
      if (run) return { run, context };
    }
    const where = agentId === undefined ? "on this machine" : `of agent ${agentId}`;
    throw new ConfigurationError(`There is no run ${id} ${where}.`, { code: "run_not_found", operation });
  }
  const handleOn = (run: LocalRunRecord, context: LocalContext, signal = never): Run =>
    openRun(run, { backend: localBackend(run, context), signal, ...(run.model && { model: run.model }) });
  const stopped = async (agentId: string, operation: string, store?: LocalAgentStore) => {
    const { runs, context } = await known(agentId, operation, store);
    for (const run of runs) await cancelLocal(run, context, never);
    // Its last run has left its word in it.
    return known(agentId, operation, store);
  };

  const create: AgentCalls["create"] = async (options = {}) => {
    if (!options.model) throw modelMissing();
    const resolved = resolveOptions(options, machine, "Agent.create");
    customTools(resolved.customTools);
    if (!resolved.provider) await checkModel(openConnection(options, runtime), options.model, never);
    const agentId = checkLocalAgentId(options.agentId ?? `agent-${machine.newId()}`, "Agent.create");
    return openLocalAgent({ agentId, birth: "new", options, resolved }, contextOf(options.local?.store));
  };

  return {
    create,
    async resume(agentId, options = {}) {
      const resolved = resolveOptions(options, machine, "Agent.resume");
      const id = checkLocalAgentId(agentId, "Agent.resume");
      const context = contextOf(options.local?.store);
      if (!(await context.store.agents.get(id))) throw unknownAgent(id, "Agent.resume");
      return openLocalAgent({ agentId: id, birth: "known", options, resolved }, context);
    },
    async prompt(message, options) {
      const agent = await create(options);
      try {
        return await (await agent.send(message)).wait();
      } finally {
        await agent[Symbol.asyncDispose]();
      }
    },
    async list(request = {}) {
      const { cwd, store, includeArchived = true, limit, cursor } = request as ListLocalAgents;
      const context = contextOf(store);
      const directory = resolve(machine.cwd(), cwd ?? ".");
      const isMeant = (agent: LocalAgentRecord) => agent.cwd === directory && (includeArchived || !agent.isArchived);
      const agents = (await context.store.agents.list()).filter(isMeant).reverse();
      const page = pageOf(agents, ({ agentId }) => agentId, { limit, cursor });
      const items = page.items.map(async (agent) =>
        infoOf(agent, (await known(agent.agentId, "agents.list", store)).runs),
      );
      return { ...page, items: await Promise.all(items) };
    },
    async get(agentId, { store } = {}) {
      const { agent, runs } = await known(agentId, "Agent.get", store);
      return infoOf(agent, runs);
    },
    async listRuns(agentId, { store, limit, cursor } = {}) {
      const { runs, context } = await known(agentId, "Agent.listRuns", store);
      const page = pageOf(runs.reverse(), ({ id }) => id, { limit, cursor });
      return { ...page, items: page.items.map((run) => handleOn(run, context)) };
    },
    async getRun(runId, options = {}) {
      const { run, context } = await knownRun(runId, options, "Agent.getRun");
      return handleOn(run, context, options.signal);
    },
    async cancelRun(runId, options = {}) {
      const { run, context } = await knownRun(runId, options, "Agent.cancelRun");
      await cancelLocal(run, context, never);
    },
    async archive(agentId, { store } = {}) {
      const { agent, context } = await stopped(agentId, "Agent.archive", store);
      await context.store.agents.put({ ...agent, isArchived: true, updatedAt: new Date().toISOString() });
    },
    async unarchive(agentId, { store } = {}) {
      const { agent, context } = await known(agentId, "Agent.unarchive", store);
      await context.store.agents.put({ ...agent, isArchived: false, updatedAt: new Date().toISOString() });
    },
    async delete(agentId, { store } = {}) {
      const { agent, context } = await stopped(agentId, "Agent.delete", store);
      await context.store.agents.delete(agent.agentId);
    },
    async getUsage(agentId, { runId, store } = {}) {
      const { runs } = await known(agentId, "Agent.getUsage", store);
      return usageIn(runs, runId);
    },
    messages: {
      async list(agentId, { store, limit, offset = 0 } = {}) {
        const { runs, context } = await known(agentId, "Agent.messages.list", store);
        const all = (await Promise.all(runs.map((run) => messagesOf(run, context.store)))).flat();
        return all.slice(offset, limit === undefined ? undefined : offset + limit);
      },
    },
  };
}
