// The client that the conformance suite tests: packages/mcp with a browser that always consents. The last argument is a URL.
import {
  type ConsentFlow,
  type Credentials,
  type ElicitationResult,
  oauthAuthorization,
  openMcpServers,
  readSettings,
} from "@agentcli/mcp";

const url = process.argv.at(-1) ?? "";
const context: { client_id?: string; client_secret?: string } = JSON.parse(process.env.MCP_CONFORMANCE_CONTEXT ?? "{}");
const read = readSettings("suite", { url, default_tools_approval_mode: "approve" });
if (read.kind === "problem") throw new Error(read.message);

const consent: ConsentFlow = {
  redirectUrl: "http://localhost:3000/callback",
  state: "conformance",
  async ask(address, signal) {
    const response = await fetch(address, { redirect: "manual", signal });
    const code = new URL(response.headers.get("location") ?? "").searchParams.get("code");
    if (code === null) throw new Error(`no code came back from ${address}`);
    return code;
  },
};

const kept = new Map<string, Credentials>();
const store = {
  read: async (server: string) => kept.get(server) ?? null,
  write: async (server: string, credentials: Credentials) => void kept.set(server, credentials),
  remove: async (server: string) => kept.delete(server),
};

const { client_id, client_secret } = context;
const servers = openMcpServers([read.settings], {
  client: { name: "conformance", version: "1.0.0" },
  root: process.cwd(),
  variables: {},
  sanitize: (text) => text,
  workspaceFor: () => Promise.reject(new Error("the suite speaks HTTP only")),
  authorize: (server, transport) =>
    oauthAuthorization({
      server,
      transport,
      store,
      clientName: "conformance",
      consent,
      advice: "look at the suite",
      registered: client_id === undefined ? undefined : { client_id, client_secret },
      clientMetadataUrl: "https://conformance-test.local/client-metadata.json",
    }),
  elicit: async (_server, question) => ({ action: "accept", content: defaultsOf(question.requestedSchema) }),
});

const [report] = await servers.started();
if (report?.status !== "ready") throw new Error(`not ready: ${report?.reason}`);
for (const tool of servers.tools().filter((candidate) => candidate.mcp)) {
  const spec = tool.spec({ freeform: false });
  const args = spec.form === "function" ? sampleOf(spec.parameters) : {};
  const limits = { toolTimeoutMs: 20_000, outputTokens: 10_000, signal: new AbortController().signal };
  const outcome = await tool.run(args, limits as Parameters<typeof tool.run>[1]);
  console.log(tool.name, outcome.status, outcome.reason ?? "");
  if (outcome.status !== "completed") process.exitCode = 1;
}
await servers.close();

type Properties = Record<string, { type?: string; default?: unknown }>;

function sampleOf(schema: object): Record<string, unknown> {
  const { properties = {} } = schema as { properties?: Properties };
  const samples: Record<string, unknown> = { string: "sample", boolean: true, array: [], object: {} };
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }], index) => [name, samples[type ?? ""] ?? index + 1]),
  );
}

function defaultsOf(schema: unknown): Extract<ElicitationResult, { action: "accept" }>["content"] {
  const { properties = {} } = (schema ?? {}) as { properties?: Properties };
  const given = Object.entries(properties).filter(([, property]) => property.default !== undefined);
  return Object.fromEntries(given.map(([name, property]) => [name, property.default])) as ReturnType<typeof defaultsOf>;
}
