// A handle on one local agent: every prompt is a run in this process.
import { closed, type SDKAgent } from "../agent.ts";
import { ConfigurationError } from "../errors.ts";
import type { AgentOptions, ModelSelection } from "../options.ts";
import { openRun } from "../run.ts";
import { beginRun, type Prompt, unknownAgent } from "./begin.ts";
import type { DrivenRun } from "./driven.ts";
import { type LocalContext, localBackend } from "./follow.ts";
import { invalid, type ResolvedOptions } from "./options.ts";
import { usageIn } from "./usage.ts";

export interface LocalHandle {
  agentId: string;
  birth: Prompt["birth"];
  options: AgentOptions;
  resolved: ResolvedOptions;
}

export function openLocalAgent(handle: LocalHandle, context: LocalContext): SDKAgent {
  const { agentId, options, resolved } = handle;
  const { store } = context;
  const closing = new AbortController();
  const { signal } = closing;
  const begun = new Set<DrivenRun>();
  let { birth } = handle;
  let model: ModelSelection | undefined = options.model;

  const close = () => {
    closing.abort(closed());
    for (const driven of begun) driven.cancel();
  };

  return {
    agentId,
    get model() {
      return model;
    },
    async send(message, send = {}) {
      if (signal.aborted) throw signal.reason;
      if (send.cloud)
        throw invalid("cloud is for agents on the platform. Set variables of this process.", "agent.send");
      const started = await beginRun({ agentId, message, options, send, resolved, birth }, context);
      birth = "known";
      const run = started.kind === "driven" ? started.driven.run : started.run;
      model = run.model ?? model;
      if (started.kind === "driven") follow(started.driven);
      return openRun(run, { backend: localBackend(run, context), signal, ...(model && { model }), observers: send });
    },
    listArtifacts: async () => [],
    async downloadArtifact(path) {
      throw new ConfigurationError(`A local agent has no artifacts. Read ${path} from the directory it works in.`, {
        code: "unsupported",
        operation: "artifacts.download",
      });
    },
    getUsage: async ({ runId } = {}) => usageIn(await store.runs.list(agentId), runId),
    async reload() {
      const agent = await store.agents.get(agentId);
      if (!agent && birth === "known") throw unknownAgent(agentId, "agent.reload");
      if (!agent) return;
      const { hooks: _, ...rest } = agent;
      await store.agents.put(rest);
    },
    close,
    async [Symbol.asyncDispose]() {
      close();
      await Promise.all([...begun].map(({ settled }) => settled));
    },
  };

  function follow(driven: DrivenRun): void {
    begun.add(driven);
    const forget = () => void begun.delete(driven);
    driven.settled.then(forget, forget);
    // Closed while it began.
    if (signal.aborted) driven.cancel();
  }
}
