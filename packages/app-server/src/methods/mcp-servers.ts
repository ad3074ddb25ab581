// mcpServer/* and mcpServerStatus/list: what MCP servers offer, requested by a client without the model.
import type { ServerOffer } from "@agentcli/mcp";
import type { McpServer } from "@agentcli/protocol";
import type { McpServerStatus, ParamsOf } from "@agentcli/protocol/app-server";
import { type Call, type Host, invalidParams, type OpenPart } from "../method.ts";
import type { AuthStatus } from "../program.ts";
import { refusing } from "../refusing.ts";
import { type McpAccess, openMcpAccess, type ThreadServers } from "./mcp-access.ts";
import { openLogins } from "./mcp-logins.ts";
import { pageOf } from "./page.ts";

export const openMcpServers =
  (threads: ThreadServers): OpenPart =>
  (host) => {
    const logins = openLogins(host);
    const access = openMcpAccess(threads, host);
    return {
      methods: {
        "mcpServerStatus/list": (params, _, call) => refusing(() => listServers(params, { access, host, call })),
        "mcpServer/tool/call": (params, _, { signal }) => refusing(() => callTool(params, access, signal)),
        "mcpServer/resource/read": ({ server, uri, threadId }, _, { signal }) =>
          refusing(async () => {
            const scope = { threadId, signal };
            const { contents } = await access.answer(server, scope, (direct) =>
              direct.readResource(server, uri, signal),
            );
            return { contents: Array.isArray(contents) ? contents : [] };
          }),
        "mcpServer/oauth/login": (params, client) => refusing(() => logins.begin(params, client)),
        "config/mcpServer/reload": () =>
          refusing(async () => {
            // A broken configuration is reported now and not with the next turn.
            await host.agent.configuration.load(null);
            threads.reload();
            return {};
          }),
      },
      close: logins.close,
    };
  };

interface Listing {
  access: McpAccess;
  host: Host;
  call: Call;
}

/** Only the servers of the requested page are started. */
async function listServers(
  { detail, threadId, ...pageRequest }: ParamsOf<"mcpServerStatus/list">,
  { access, host, call: { signal } }: Listing,
) {
  const { config } = (await host.agent.configuration.load(null)).loaded;
  const page = pageOf(Object.entries(config.mcp_servers ?? {}).sort(byName), pageRequest);
  const depth = detail === "toolsAndAuthOnly" ? "tools" : "everything";
  const offers = await access.ask(Object.fromEntries(page.data), { threadId, signal }, (direct) =>
    direct.listOffers(depth, signal),
  );
  const described = page.data.map(([name, server]) => describe(name, server, offers ?? [], host));
  return { ...page, data: await Promise.all(described) };
}

async function callTool(
  { server, tool, threadId, arguments: args, _meta }: ParamsOf<"mcpServer/tool/call">,
  access: McpAccess,
  signal: AbortSignal,
) {
  const call = { name: tool, arguments: objectIn("arguments", args), _meta: objectIn("_meta", _meta) };
  const result = await access.answer(server, { threadId, signal }, (direct) => direct.callTool(server, call, signal));
  return { ...result, content: Array.isArray(result.content) ? result.content : [] };
}

function objectIn(name: string, value: unknown): Record<string, never> {
  if (value == null) return {};
  if (typeof value === "object" && !Array.isArray(value)) return value as Record<string, never>;
  throw invalidParams(`${name} must be an object.`);
}

const byName = ([one]: [string, McpServer], [other]: [string, McpServer]): number => (one < other ? -1 : 1);

const authStatuses: Record<AuthStatus, McpServerStatus["authStatus"]> = {
  unsupported: "unsupported",
  not_logged_in: "notLoggedIn",
  bearer_token: "bearerToken",
  o_auth: "oAuth",
};
const runtimeStatuses = { ready: "connected", late: "starting", failed: "failed" } as const;

async function describe(name: string, server: McpServer, offers: ServerOffer[], host: Host): Promise<McpServerStatus> {
  const offer = offers.find(({ report }) => report.name === name);
  const tools = (offer?.tools ?? []).map((tool) => ({
    name: tool.name,
    description: tool.description,
    inputSchema: tool.inputSchema,
    annotations: { readOnlyHint: tool.readOnly },
  }));
  return {
    name,
    authStatus: authStatuses[await host.agent.servers.authStatus(name, server)],
    runtimeStatus: offer ? runtimeStatuses[offer.report.status] : server.enabled === false ? "disabled" : "notStarted",
    tools: Object.fromEntries(tools.map((tool) => [tool.name, tool])),
    resources: offer?.resources ?? [],
    resourceTemplates: offer?.resourceTemplates ?? [],
    serverInfo: offer?.info ?? null,
  };
}
