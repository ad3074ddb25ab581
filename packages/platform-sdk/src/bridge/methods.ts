// The calls of this package by name, with JSON in and JSON out.
import { randomUUID } from "node:crypto";
import type { AccountCalls } from "../account.ts";
import type { SDKAgent } from "../agent.ts";
import type { AgentCalls } from "../agents.ts";
import { ConfigurationError } from "../errors.ts";
import type { AgentOptions, ConnectionOptions, SendOptions, UserMessage } from "../options.ts";
import type { Run } from "../run.ts";
import { version } from "../version.ts";

export type Params = Record<string, unknown>;

/** `bytes` and `stream` are sent as they are, everything else as JSON. */
export type Outcome =
  | { kind: "json"; value: unknown }
  /** An empty answer, and what comes behind it. */
  | { kind: "last"; afterwards: () => void }
  | { kind: "bytes"; bytes: Buffer }
  /** What happens in a run, then how it ended. */
  | { kind: "stream"; run: Run };

/** The signal fires when the caller has left. */
export type Method = (params: Params, signal: AbortSignal) => Promise<Outcome>;

export interface Calls {
  Agent: AgentCalls;
  Platform: AccountCalls;
}

const json = (value: unknown): Outcome => ({ kind: "json", value: value ?? {} });

// One row per call, of a line or two each.
export function bridgeMethods({ Agent, Platform }: Calls, shutDown: () => void): Map<string, Method> {
  const handles = new Map<string, SDKAgent>();
  const keep = (agent: SDKAgent): Outcome => {
    const handle = `agent-${randomUUID()}`;
    handles.set(handle, agent);
    return json({ agent: handle });
  };
  const handleOf = (params: Params): SDKAgent => {
    const agent = handles.get(text(params, "agent"));
    if (agent) return agent;
    throw invalid("agent: is no handle of this bridge; CreateAgent and ResumeAgent give them out.");
  };
  const agentId = (params: Params): string =>
    typeof params.agent === "string" ? handleOf(params).agentId : text(params, "agentId");
  const runOf = (params: Params, signal: AbortSignal) =>
    Agent.getRun(text(params, "runId"), { ...connectionOf(params), agentId: agentId(params), signal });
  const agentOf = async (params: Params): Promise<SDKAgent> =>
    typeof params.agent === "string" ? handleOf(params) : Agent.resume(agentId(params), connectionOf(params));

  const agents: Record<string, Method> = {
    CreateAgent: async (params) => keep(await Agent.create(optionsOf(params))),
    ResumeAgent: async (params) => keep(await Agent.resume(agentId(params), optionsOf(params))),
    CloseAgent: async (params) => {
      handleOf(params).close();
      return json({ closed: handles.delete(text(params, "agent")) });
    },
    Send: async (params) => {
      const agent = await agentOf(params);
      return json(await agent.send(messageOf(params), optionsOf<SendOptions>(params)));
    },
    Prompt: async (params) => json(await Agent.prompt(messageOf(params), optionsOf(params))),
    ListAgents: async (params) => json(await Agent.list(optionsOf(params))),
    GetAgent: async (params) => json(await Agent.get(agentId(params), connectionOf(params))),
    ArchiveAgent: async (params) => json(await Agent.archive(agentId(params), connectionOf(params))),
    UnarchiveAgent: async (params) => json(await Agent.unarchive(agentId(params), connectionOf(params))),
    DeleteAgent: async (params) => json(await Agent.delete(agentId(params), connectionOf(params))),
    GetUsage: async (params) => json(await Agent.getUsage(agentId(params), optionsOf(params))),
    ListArtifacts: async (params) => json({ items: await (await agentOf(params)).listArtifacts() }),
    DownloadArtifact: async (params) => ({
      kind: "bytes",
      bytes: await (await agentOf(params)).downloadArtifact(text(params, "path")),
    }),
    ListRuns: async (params) => json(await Agent.listRuns(agentId(params), optionsOf(params))),
    GetRun: async (params, signal) => json(await runOf(params, signal)),
    StreamRun: async (params, signal) => ({ kind: "stream", run: await runOf(params, signal) }),
    WaitRun: async (params, signal) => json(await (await runOf(params, signal)).wait()),
    GetConversation: async (params, signal) => json({ turns: await (await runOf(params, signal)).conversation() }),
    CancelRun: async (params, signal) => json(await (await runOf(params, signal)).cancel()),
  };
  const platform: Record<string, Method> = {
    Me: async (params) => json(await Platform.me(connectionOf(params))),
    ListModels: async (params) => json({ items: await Platform.models.list(connectionOf(params)) }),
    ListRepositories: async (params) => json({ items: await Platform.repositories.list(connectionOf(params)) }),
  };
  const control: Record<string, Method> = {
    Ping: async () => json({ version }),
    Shutdown: async () => ({ kind: "last", afterwards: shutDown }),
  };
  return new Map([
    ...named("SdkAgentService", agents),
    ...named("SdkPlatformService", platform),
    ...named("SdkBridgeControlService", control),
  ]);
}

const named = (service: string, methods: Record<string, Method>): [string, Method][] =>
  Object.entries(methods).map(([name, method]) => [`/sdk.v1.${service}/${name}`, method]);

/** Of a call's options this package reads what it knows; the platform refuses what it does not. */
function optionsOf<Options extends object = AgentOptions>({ options = {} }: Params): Options {
  if (typeof options === "object" && options !== null && !Array.isArray(options)) return options as Options;
  throw invalid("options: must be an object.");
}

function connectionOf(params: Params): ConnectionOptions {
  const { apiKey, backendUrl } = optionsOf<ConnectionOptions>(params);
  return { ...(apiKey !== undefined && { apiKey }), ...(backendUrl !== undefined && { backendUrl }) };
}

function messageOf({ message }: Params): UserMessage {
  if (typeof message === "string") return message;
  if (typeof message === "object" && message !== null && "text" in message) return message as UserMessage;
  throw invalid("message: must be a text, or an object with text and images.");
}

function text(params: Params, name: string): string {
  const value = params[name];
  if (typeof value === "string") return value;
  throw invalid(`${name}: must be a text.`);
}

const invalid = (message: string): ConfigurationError =>
  new ConfigurationError(message, { code: "invalid_option", operation: "bridge" });
