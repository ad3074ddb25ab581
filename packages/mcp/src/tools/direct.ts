// Direct access for clients, without the model: what servers offer, one tool call, one resource.
import { type RpcResponse, readList, type Server, type ServerReport, type ServerTool } from "../connection/index.ts";
import type { JsonObject } from "../json.ts";
import { findServer, unknownServer } from "./resource-tools.ts";

export interface ServerOffer {
  report: ServerReport;
  /** Its own name and version; null before initialization. */
  info: JsonObject | null;
  tools: ServerTool[];
  resources: JsonObject[];
  resourceTemplates: JsonObject[];
}

export interface DirectAccess {
  /** Of each server, once it has started or timed out. */
  listOffers(scope: "tools" | "everything", signal: AbortSignal): Promise<ServerOffer[]>;
  /** The server's response, unchanged. */
  callTool(server: string, call: JsonObject & { name: string }, signal: AbortSignal): Promise<RpcResponse>;
  readResource(server: string, uri: string, signal: AbortSignal): Promise<RpcResponse>;
}

export function directAccess(servers: Server[]): DirectAccess {
  async function request(name: string, method: string, params: JsonObject, signal: AbortSignal): Promise<RpcResponse> {
    const server = findServer(servers, name);
    if (!server) return refused(unknownServer(servers, name));
    await server.started;
    return server.request({ method, params, idleTimeoutMs: server.settings.toolTimeoutMs }, signal);
  }

  return {
    listOffers: (scope, signal) => Promise.all(servers.map((server) => readOffer(server, scope, signal))),
    async callTool(name, call, signal) {
      const server = findServer(servers, name);
      await server?.started;
      const isMissing = server && server.tools().length > 0 && !server.tools().some((tool) => tool.name === call.name);
      if (isMissing) return refused(`MCP server ${name} offers no tool ${JSON.stringify(call.name)}`);
      return request(name, "tools/call", call, signal);
    },
    readResource: (name, uri, signal) => request(name, "resources/read", { uri }, signal),
  };
}

async function readOffer(server: Server, scope: "tools" | "everything", signal: AbortSignal): Promise<ServerOffer> {
  const report = await server.started;
  const reads = scope === "everything" && report.status === "ready" && server.capabilities().resources;
  const list = async (method: string, key: string) => {
    const idleTimeoutMs = server.settings.toolTimeoutMs;
    const response = reads ? await readList(server, { method, key, idleTimeoutMs }, signal) : null;
    // A server that has resources need not have templates.
    return response?.kind === "result" ? response.result : [];
  };
  return {
    report,
    info: server.info(),
    tools: server.tools(),
    resources: await list("resources/list", "resources"),
    resourceTemplates: await list("resources/templates/list", "resourceTemplates"),
  };
}

const refused = (message: string): RpcResponse => ({ kind: "fault", fault: { kind: "refused", message } });
