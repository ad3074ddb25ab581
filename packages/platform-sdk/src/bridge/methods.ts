// The calls of this package by name, with JSON in and JSON out.
import { randomUUID } from "node:crypto";
import type { AccountCalls } from "../account.ts";
import type { SDKAgent } from "../agent.ts";
import type { AgentCalls } from "../agent-calls.ts";
import { ConfigurationError } from "../errors.ts";
import type { AgentOptions, ConnectionOptions, SendOptions, UserMessage } from "../options.ts";
import type { Run } from "../run.ts";
import { version } from "../version.ts";
import { readToolCallback, withCallback } from "./tool-callback.ts";

export type Params = Record<string, unknown>;

/** `bytes` and `stream` are sent as they are, everything else as JSON. */
export type Outcome =
  | { kind: "json"; value: unknown }
  /** An empty answer, and what comes behind it. */
  | { kind: "last"; afterwards: () => void }
  | { kind: "bytes"; bytes: Buffer }
  /** What happens in a run, then how it ended. */
  | { kind: "stream"; run: Run }
  /** What its messages are made from. */
  | { kind: "frames"; run: Run };

/** The signal fires when the caller has left. */
export type Method = (params: Params, signal: AbortSignal) => Promise<Outcome>;

export interface Calls {
  Agent: AgentCalls;
  Platform: AccountCalls;
}

export interface BridgeMethods {
  /** By the path they are called with. */
  methods: Map<string, Method>;
  /** Ends every agent of this machine; nothing that they started is left. */
  close(): Promise<void>;
}

const json = (value: unknown): Outcome => ({ kind: "json", value: value ?? {} });

// One row per call, of a line or two each.
export function bridgeMethods({ Agent, Platform }: Calls, shutDown: () => void): BridgeMethods {
  const handles = new Map<string, SDKAgent>();
  /** Of prompts that named an agent by its id. */
  const passing = new Set<SDKAgent>();
  const keep = (agent: SDKAgent): Outcome => {
    const handle = `agent-${randomUUID()}`;
    handles.set(handle, agent);
    return json({ agent: handle, ...idOf(agent), ...(agent.model && { model: agent.model }) });
  };
  const handleOf = (params: Params): SDKAgent => {
    const agent = handles.get(text(params, "agent"));
    if (agent) return agent;
    throw invalid("agent: is not a handle of this bridge; CreateAgent and ResumeAgent return them.");
  };
  const agentId = (params: Params): string =>
    typeof params.agent === "string" ? handleOf(params).agentId : text(params, "agentId");
  const runOf = (params: Params, signal: AbortSignal) =>
    Agent.getRun(text(params, "runId"), { ...connectionOf(params), ...ownerOf(params), signal });
  /** Runs of this machine are found without. */
  const ownerOf = (params: Params): { agentId?: string } =>
    params.agent === undefined && params.agentId === undefined ? {} : { agentId: agentId(params) };
  const agentOf = async (params: Params): Promise<SDKAgent> => {
    if (typeof params.agent === "string") return handleOf(params);
    // One that was created here may not be anywhere else before its first prompt.
    const kept = [...handles.values()].find((agent) => idOf(agent).agentId === params.agentId);
    if (kept && params.agentId !== undefined) return kept;
    const agent = await Agent.resume(agentId(params), connectionOf(params));
    passing.add(agent);
    return agent;
  };

  const agents: Record<string, Method> = {
    CreateAgent: async (params) => keep(await Agent.create(localOptionsOf(params))),
    ResumeAgent: async (params) => keep(await Agent.resume(agentId(params), localOptionsOf(params))),
    CloseAgent: async (params) => {
      await handleOf(params)[Symbol.asyncDispose]();
      return json({ closed: handles.delete(text(params, "agent")) });
    },
    ReloadAgent: async (params) => json(await (await agentOf(params)).reload()),
    Send: async (params) => {
      const agent = await agentOf(params);
      return json(await agent.send(messageOf(params), localOptionsOf<SendOptions>(params)));
    },
    Prompt: async (params) => json(await Agent.prompt(messageOf(params), localOptionsOf(params))),
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
    ListMessages: async (params) => json({ items: await Agent.messages.list(agentId(params), optionsOf(params)) }),
    ListRuns: async (params) => json(await Agent.listRuns(agentId(params), optionsOf(params))),
    GetRun: async (params, signal) => json(await runOf(params, signal)),
    StreamRun: async (params, signal) => ({ kind: "stream", run: await runOf(params, signal) }),
    FollowRun: async (params, signal) => ({ kind: "frames", run: await runOf(params, signal) }),
    WaitRun: async (params, signal) => json(await (await runOf(params, signal)).wait()),
    GetConversation: async (params, signal) => json({ turns: await (await runOf(params, signal)).conversation() }),
    CancelRun: async (params, signal) => json(await (await runOf(params, signal)).cancel()),
    SteerRun: async (params, signal) =>
      json({ outcome: await (await runOf(params, signal)).steer(text(params, "text")) }),
  };
  const platform: Record<string, Method> = {
    Me: async (params) => json(await Platform.me(connectionOf(params))),
    ListModels: async (params) => json({ items: await Platform.models.list(connectionOf(params)) }),
    ListRepositories: async (params) => json({ items: await Platform.repositories.list(connectionOf(params)) }),
  };
  const control: Record<string, Method> = {
    Ping: async () => json({ message: "pong", version }),
    GetVersion: async () => json({ version }),
    Shutdown: async () => ({ kind: "last", afterwards: shutDown }),
  };
  return {
    methods: new Map([
      ...named("SdkAgentService", agents),
      ...named("SdkPlatformService", platform),
      ...named("SdkBridgeControlService", control),
    ]),
    async close() {
      await Promise.all([...handles.values(), ...passing].map((agent) => agent[Symbol.asyncDispose]()));
    },
  };
}

/** Nothing where the platform is still to choose it. */
function idOf(agent: SDKAgent): { agentId?: string } {
  try {
    return { agentId: agent.agentId };
  } catch (error) {
    if (error instanceof ConfigurationError) return {};
    throw error;
  }
}

const named = (service: string, methods: Record<string, Method>): [string, Method][] =>
  Object.entries(methods).map(([name, method]) => [`/sdk.v1.${service}/${name}`, method]);

/** Of a call's options this package reads what it knows; the platform refuses what it does not. */
function optionsOf<Options extends object = AgentOptions>({ options = {} }: Params): Options {
  if (typeof options === "object" && options !== null && !Array.isArray(options)) return options as Options;
  throw invalid("options: must be an object.");
}

/** Tools of the caller run in the caller: `toolCallback` says where it listens. */
function localOptionsOf<Options extends AgentOptions | SendOptions = AgentOptions>(params: Params): Options {
  const options = optionsOf<Options>(params);
  const { customTools, ...local } = options.local ?? {};
  if ("store" in local) throw invalid("local.store: a bridge keeps agents in files. Set PLATFORM_SDK_HOME for it.");
  if (customTools === undefined) return options;
  const tools = withCallback(customTools, readToolCallback(params.toolCallback));
  return { ...options, local: { ...local, customTools: tools } };
}

function connectionOf(params: Params): ConnectionOptions {
  const { apiKey, backendUrl } = optionsOf<ConnectionOptions>(params);
  return { ...(apiKey !== undefined && { apiKey }), ...(backendUrl !== undefined && { backendUrl }) };
}

function messageOf({ message }: Params): UserMessage {
  if (typeof message === "string") return message;
  if (typeof message === "object" && message !== null && "text" in message) return message as UserMessage;
  throw invalid("message: must be a string, or an object with text and images.");
}

function text(params: Params, name: string): string {
  const value = params[name];
  if (typeof value === "string") return value;
  throw invalid(`${name}: must be a string.`);
}

const invalid = (message: string): ConfigurationError =>
  new ConfigurationError(message, { code: "invalid_option", operation: "bridge" });
