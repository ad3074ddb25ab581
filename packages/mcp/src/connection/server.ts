// One server: it starts, is ready or late or fails, may be lost, and is restarted when it is needed again.
import type { McpHost } from "../host.ts";
import { isOffered, type ServerSettings } from "../settings.ts";
import { type Connection, type ConnectionResult, listTools, openConnection } from "./connection.ts";
import type { InitializeResult } from "./initialize.ts";
import { definitionOf, type ServerTool } from "./readers.ts";
import type { RpcRequest, RpcResponse } from "./rpc-client.ts";

export interface ServerReport {
  name: string;
  status: "ready" | "late" | "failed";
  reason: string | null;
}

export interface Server {
  readonly settings: ServerSettings;
  /** Settles when the server is ready, has failed, or has timed out. */
  readonly started: Promise<ServerReport>;
  /** The tools it last listed, also after it was lost: calling one restarts it. */
  tools(): ServerTool[];
  /** Whether the server has changed the definition of this tool since it first listed it. */
  hasChanged(tool: ServerTool): boolean;
  capabilities(): InitializeResult["capabilities"];
  /** Its own name and version, once initialized. */
  info(): InitializeResult["info"];
  /** Restarts a lost server, once per loss. A tool that it then describes in another way is not called. */
  request(request: RpcRequest, signal: AbortSignal): Promise<RpcResponse>;
  close(): Promise<void>;
}

type State =
  | { kind: "starting"; connecting: Promise<ConnectionResult> }
  | { kind: "ready"; connection: Connection }
  | { kind: "lost"; reason: string }
  | { kind: "failed"; reason: string };

const notInitialized: InitializeResult = {
  info: null,
  capabilities: { tools: false, resources: false, prompts: false },
};

// Over 60 lines because it is one state machine: requests, restarts and close must see the same state.
export function openServer(settings: ServerSettings, host: McpHost): Server {
  const ended = new AbortController();
  let starts = 0;
  let toolList: ServerTool[] = [];
  const firstDefinitions = new Map<string, string>();
  let { capabilities, info } = notInitialized;
  /** Closes what is left of a lost connection. */
  let cleanUp: Promise<void> = Promise.resolve();
  let state: State = { kind: "starting", connecting: start(Infinity) };
  const started = report(settings, state.connecting);

  async function start(timeoutMs: number): Promise<ConnectionResult> {
    starts += 1;
    const processId = `mcp-${settings.name}-${starts}`;
    const connected = await openConnection(
      { settings, host, processId, timeoutMs, onToolsChanged: () => void refresh(), onLost: lose },
      ended.signal,
    );
    if (connected.kind === "connected") {
      take(connected.connection.tools);
      ({ capabilities, info } = connected.connection.initialized);
      state = { kind: "ready", connection: connected.connection };
    } else state = { kind: "failed", reason: connected.fault.message };
    return connected;
  }

  function take(tools: ServerTool[]): void {
    toolList = tools;
    for (const tool of tools) if (!firstDefinitions.has(tool.name)) firstDefinitions.set(tool.name, definitionOf(tool));
  }

  function lose(reason: string): void {
    if (state.kind !== "ready") return;
    cleanUp = state.connection.client.close();
    state = { kind: "lost", reason };
  }

  async function refresh(): Promise<void> {
    if (state.kind !== "ready") return;
    const { connection } = state;
    const listed = await listTools(
      connection,
      { sanitize: host.sanitize, timeoutMs: settings.startTimeoutMs },
      ended.signal,
    );
    if (listed.kind === "result") take(listed.result);
  }

  async function connect(): Promise<ConnectionResult> {
    if (state.kind === "ready") return { kind: "connected", connection: state.connection };
    if (state.kind === "lost") state = { kind: "starting", connecting: start(settings.startTimeoutMs) };
    if (state.kind === "starting") return state.connecting;
    return { kind: "fault", fault: { kind: "lost", message: `it is not running: ${state.reason}` } };
  }

  /** Of the tool that is to be called: it was approved as the server described it then. */
  function definitionFor({ method, params }: RpcRequest): string | undefined {
    const called = method === "tools/call" ? toolList.find(({ name }) => name === params?.name) : undefined;
    return called && definitionOf(called);
  }

  return {
    settings,
    started,
    tools: () => toolList.filter((tool) => isOffered(settings, tool.name)),
    hasChanged: (tool) => firstDefinitions.get(tool.name) !== definitionOf(tool),
    capabilities: () => capabilities,
    info: () => info,
    async request(request, signal) {
      const before = definitionFor(request);
      const connected = await Promise.race([connect(), faultOnAbort(signal)]);
      if (connected.kind === "fault") return connected;
      if (before !== undefined && definitionFor(request) !== before) return changedFault;
      const response = await connected.connection.client.request(request, signal);
      // It may have been lost between its initialization and the state "ready".
      if (response.kind === "fault" && response.fault.kind === "lost") lose(response.fault.message);
      return response;
    },
    async close() {
      const last = state;
      ended.abort();
      await cleanUp;
      if (last.kind === "ready") await last.connection.client.close();
      if (last.kind !== "starting") return;
      const connected = await last.connecting;
      if (connected.kind === "connected") await connected.connection.client.close();
    },
  };
}

const changedFault: RpcResponse = {
  kind: "fault",
  fault: {
    kind: "refused",
    message: "the tool changed when the server was started again, so it was not called; check it and start a new run",
  },
};

/** Settles when the caller aborts: a restart may take longer. */
const faultOnAbort = (signal: AbortSignal): Promise<Extract<ConnectionResult, { kind: "fault" }>> =>
  new Promise((resolve) => {
    const stop = () => resolve({ kind: "fault", fault: { kind: "stopped", message: "the call was cancelled" } });
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });

/** An optional server that is late keeps starting; a required one has failed. */
async function report(
  { name, startTimeoutMs, required }: ServerSettings,
  starting: Promise<ConnectionResult>,
): Promise<ServerReport> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, startTimeoutMs, null);
  });
  const connected = await Promise.race([starting, limit]);
  clearTimeout(timer);
  if (connected?.kind === "connected") return { name, status: "ready", reason: null };
  if (connected) return { name, status: "failed", reason: connected.fault.message };
  const reason = `it was not ready within ${startTimeoutMs / 1000} s`;
  return {
    name,
    status: required ? "failed" : "late",
    reason: required ? reason : `${reason}; its tools join on the next turn`,
  };
}
