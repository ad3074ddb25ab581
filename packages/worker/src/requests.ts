// What the platform may ask of this worker; each request is validated, and nothing else is done.
import { pipeline } from "node:stream/promises";
import type { WorkerRequest, WorkerRequestName } from "@agentcli/protocol/worker-link";
import { type Answer, type LinkRequest, serveWorkspace } from "@agentcli/workspace";
import type { InOrder } from "./claim-order.ts";
import type { AgentFiles } from "./files.ts";
import type { AgentSandboxes } from "./sandboxes.ts";
import type { SessionHooks } from "./session-hooks.ts";
import type { Sessions } from "./sessions.ts";
import type { ArtifactUploads } from "./uploads.ts";

/** The agents of this machine. */
export interface Agents {
  files: AgentFiles;
  sandboxes: AgentSandboxes;
  hooks: Pick<SessionHooks, "keep" | "run">;
  uploads: ArtifactUploads;
  /** Refuses where the operator has not asked for it. */
  clone(request: WorkerRequest<"repos.clone">): Promise<object>;
  /** Of all connections: a request goes on after its connection was lost. */
  inOrder: InOrder;
  sessions: Pick<Sessions, "claimed" | "released" | "finished" | "used" | "runOf">;
}

type Requests = {
  [Name in WorkerRequestName]: (body: WorkerRequest<Name>, request: LinkRequest, answer: Answer) => Promise<void>;
};

export interface OpenedRequests {
  answer(request: LinkRequest, answer: Answer): Promise<void>;
  /** What the first request needs, ahead of it. */
  load(): void;
}

/** `log`: of each request, for the operator. */
export function openRequests(agents: Agents, log?: (line: string) => void): OpenedRequests {
  const handlers = handlersOf(agents);
  const load = () => import("@agentcli/protocol/worker-link");
  const answer = async (request: LinkRequest, reply: Answer): Promise<void> => {
    const { workerRequests } = await load();
    if (!Object.hasOwn(workerRequests, request.name))
      throw new Error(`This worker does not know ${request.name}; upgrade it to the version of the platform.`);
    const name = request.name as WorkerRequestName;
    const parsed = workerRequests[name].safeParse(request.body);
    if (!parsed.success) throw new Error(`Invalid request ${name}: ${parsed.error.issues[0]?.message ?? ""}`);
    agents.sessions.used();
    log?.(`${name} of ${parsed.data.agent}`);
    await handlers[name](parsed.data as never, request, reply);
  };
  // Not at once: it takes a sixth of the start, and the message that the worker is registered comes first.
  return { answer, load: () => void setImmediate(() => void load().catch(() => {})) };
}

/** A request that only the answer follows. */
const plain =
  <Body>(act: (body: Body) => Promise<unknown>) =>
  async (body: Body, { stream }: LinkRequest, answer: Answer) => {
    answer(Object((await act(body)) ?? {}));
    stream.end();
    stream.resume();
  };

function handlersOf(agents: Agents): Requests {
  const { files, sandboxes, hooks, uploads, clone, sessions } = agents;
  const sending =
    (send: AgentFiles["send"]) =>
    async ({ agent, without }: { agent: string; without?: string[] }, { stream }: LinkRequest, answer: Answer) => {
      answer({});
      await sandboxes.whileStopped(agent, () => send(agent, stream, without));
      stream.end();
    };
  return {
    ...claimHandlers(agents),
    "session.hooks": plain(async (body) => hooks.keep(body)),
    "repos.clone": plain((body) => sandboxes.whileStopped(body.agent, () => clone(body))),
    "sync.state": plain(({ agent }) => files.state(agent)),
    async "sync.apply"(body, { stream }, answer) {
      await sandboxes.whileStopped(body.agent, () => files.apply(body, stream));
      answer({});
      stream.end();
    },
    "artifacts.list": plain(async ({ agent }) => ({
      files: await sandboxes.whileStopped(agent, () => uploads.list(agent)),
    })),
    "artifacts.upload": plain(async (body) => ({
      uploaded: await sandboxes.whileStopped(body.agent, () => uploads.upload(body)),
    })),
    "sync.collect": sending(files.send),
    "sync.collectAll": sending(files.sendAll),
    "sync.commit": plain(async ({ agent, id }) => {
      await sandboxes.whileStopped(agent, () => files.commit(agent, id));
      sessions.finished(agent);
    }),
    "sandbox.describe": plain(async (body) => sandboxes.describe(body)),
    async "sandbox.open"(body, { stream }, answer) {
      const workspace = await sandboxes.open(body);
      answer({});
      // What was started stays for the next connection.
      await serveWorkspace(workspace, stream, stream);
    },
    async "sandbox.dial"({ port, ...which }, { stream }, answer) {
      const connection = await sandboxes.dial(which, port);
      answer({});
      await pipeline(stream, connection, stream).catch(() => {});
      connection.destroy();
    },
    "sandbox.close": plain((body) => sandboxes.close(body)),
  };
}

const claimHandlers = ({
  sandboxes,
  hooks,
  sessions,
  inOrder,
}: Agents): Pick<Requests, "agent.claim" | "agent.release"> => ({
  "agent.claim": plain(({ agent, runId }) =>
    inOrder(agent, async () => {
      const isNew = await sessions.claimed(agent, runId);
      await sandboxes.claim(agent, runId);
      return { isNew, keepsHooks: true, uploads: true };
    }),
  ),
  "agent.release": plain(({ agent, runId }) =>
    inOrder(agent, async () => {
      const current = sessions.runOf(agent);
      // It was sent before the claim of a later run, and has arrived after it.
      if (runId !== undefined && current !== undefined && current !== runId) return;
      await hooks.run(agent);
      await sandboxes.release(agent);
      await sessions.released(agent);
    }),
  ),
});
