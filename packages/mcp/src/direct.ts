// Servers asked by a person's own program, past the model: what they offer, one of their tools, one of their resources.
import type { Answer } from "./conversation.ts";
import type { JsonObject } from "./json.ts";
import { readList } from "./lists.ts";
import type { ServerTool } from "./readers.ts";
import { findServer, unknownServer } from "./resource-tools.ts";
import type { Server, ServerReport } from "./server.ts";

export interface Offer {
  report: ServerReport;
  /** How it introduced itself; null where it has not. */
  info: JsonObject | null;
  tools: ServerTool[];
  resources: JsonObject[];
  resourceTemplates: JsonObject[];
}

export interface DirectAccess {
  /** Of each server, once it has started or used up its time to. */
  offers(wanted: "tools" | "everything", signal: AbortSignal): Promise<Offer[]>;
  /** With the answer of the server as it came. */
  callTool(server: string, call: JsonObject & { name: string }, signal: AbortSignal): Promise<Answer>;
  readResource(server: string, uri: string, signal: AbortSignal): Promise<Answer>;
}

export function directAccess(servers: Server[]): DirectAccess {
  async function ask(name: string, method: string, params: JsonObject, signal: AbortSignal): Promise<Answer> {
    const server = findServer(servers, name);
    if (!server) return refused(unknownServer(servers, name));
    await server.started;
    return server.ask({ method, params, limitMs: server.settings.toolLimitMs }, signal);
  }

  return {
    offers: (wanted, signal) => Promise.all(servers.map((server) => offerOf(server, wanted, signal))),
    async callTool(name, call, signal) {
      const server = findServer(servers, name);
      await server?.started;
      const isMissing = server && server.tools().length > 0 && !server.tools().some((tool) => tool.name === call.name);
      if (isMissing) return refused(`MCP server ${name} offers no tool ${JSON.stringify(call.name)}`);
      return ask(name, "tools/call", call, signal);
    },
    readResource: (name, uri, signal) => ask(name, "resources/read", { uri }, signal),
  };
}

async function offerOf(server: Server, wanted: "tools" | "everything", signal: AbortSignal): Promise<Offer> {
  const report = await server.started;
  const reads = wanted === "everything" && report.status === "ready" && server.capabilities().resources;
  const list = async (method: string, key: string) => {
    const limitMs = server.settings.toolLimitMs;
    const answer = reads ? await readList(server, { method, key, limitMs }, signal) : null;
    // A server that has resources need not have templates.
    return answer?.kind === "result" ? answer.result : [];
  };
  return {
    report,
    info: server.info(),
    tools: server.tools(),
    resources: await list("resources/list", "resources"),
    resourceTemplates: await list("resources/templates/list", "resourceTemplates"),
  };
}

const refused = (message: string): Answer => ({ kind: "fault", fault: { kind: "refused", message } });
