// The methods of the Agent Client Protocol, for one editor on the standard streams. The end of its input ends the program.
import { type Readable, Readable as Streams } from "node:stream";
import type { Notice } from "@agentcli/surfaces/app-server";
import {
  type Client,
  type Connect,
  openClient,
  type Question,
  RequestError as Refusal,
  type ThreadOverrides,
} from "@agentcli/tui/client";
import {
  type AgentApp,
  type AgentConnection,
  agent,
  type ClientCapabilities,
  type InitializeRequest,
  type InitializeResponse,
  type ListSessionsRequest,
  type ListSessionsResponse,
  ndJsonStream,
  PROTOCOL_VERSION,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { choose, configOptions, modeState } from "./options.ts";
import { askEditor } from "./questions.ts";
import {
  cancelTurn,
  commandsOf,
  followTurn,
  type OpenRequest,
  openSession,
  runPrompt,
  type Session,
} from "./sessions.ts";

export interface EditorOptions {
  connect: Connect;
  input: Readable;
  print(text: string): Promise<void>;
  /** For people: standard output has messages of the protocol alone. */
  log(line: string): void;
  version: string;
  /** Of threads, where the command line sets them. */
  overrides: ThreadOverrides;
  signal: AbortSignal;
}

/** Settles when the editor ends its side. */
export async function serveEditor(options: EditorOptions): Promise<void> {
  const { connect, version, signal, input, print } = options;
  const host: Host = { options, sessions: new Map(), parents: new Map(), questions: new Map(), capabilities: {} };
  const events = {
    notice: (notice: Notice) => follow(host, notice),
    asked: (question: Question) => void ask(host, question),
    reopened: () => {},
    lost: () => host.connection?.close(),
  };
  host.client = await openClient({ connect, clientName: "agentcli-acp", version, events, signal });
  const output = new WritableStream<Uint8Array>({ write: (bytes) => print(Buffer.from(bytes).toString("utf8")) });
  const stream = ndJsonStream(output, Streams.toWeb(input) as ReadableStream<Uint8Array>);
  const connection = methods(host).connect(stream);
  host.connection = connection;
  const stop = () => connection.close();
  signal.addEventListener("abort", stop, { once: true });
  if (signal.aborted) stop();
  await connection.closed;
  signal.removeEventListener("abort", stop);
  host.client.close();
}

interface Host {
  options: EditorOptions;
  client?: Client;
  connection?: AgentConnection;
  sessions: Map<string, Session>;
  /** Threads of sub-agents, and whose they are. */
  parents: Map<string, string>;
  /** Questions in the editor, by the id that the server gave them. */
  questions: Map<string | number, AbortController>;
  capabilities: ClientCapabilities;
}

const clientOf = ({ client }: Host): Client => {
  if (!client) throw new Error("used before the app server was connected");
  return client;
};

function methods(host: Host): AgentApp {
  return sessionMethods(host)
    .onRequest("initialize", ({ params }) => initialize(host, params))
    .onRequest("authenticate", async () => {
      const { account, requiresOpenaiAuth } = await clientOf(host).request("account/read", {});
      if (account || !requiresOpenaiAuth) return {};
      throw RequestError.authRequired(undefined, "Run agentcli login in a terminal, or set AGENT_API_KEY.");
    })
    .onRequest("logout", () => refused(clientOf(host).request("account/logout", {})));
}

function initialize(host: Host, { clientCapabilities }: InitializeRequest): InitializeResponse {
  host.capabilities = clientCapabilities ?? {};
  const { version } = host.options;
  return {
    protocolVersion: PROTOCOL_VERSION,
    agentInfo: { name: "agentcli", title: "agentcli", version },
    agentCapabilities: {
      loadSession: true,
      promptCapabilities: { image: true, embeddedContext: true },
      mcpCapabilities: { http: true, sse: true },
      sessionCapabilities: { list: {}, resume: {}, close: {}, delete: {} },
      auth: { logout: {} },
    },
    authMethods: [
      ...(host.capabilities.auth?.terminal
        ? [{ type: "terminal" as const, id: "login", name: "Log in", description: "agentcli login", args: ["login"] }]
        : [
            {
              id: "login",
              name: "agentcli login",
              description: "Run agentcli login in a terminal, or set AGENT_API_KEY",
            },
          ]),
    ],
  };
}

function sessionMethods(host: Host): AgentApp {
  const found = (sessionId: string): Session => {
    const session = host.sessions.get(sessionId);
    if (!session) throw RequestError.sessionNotFound(sessionId);
    return session;
  };
  return agent({ name: "agentcli" })
    .onRequest("session/new", async ({ params }) => {
      const session = await open(host, { ...params, sessionId: null });
      return { sessionId: session.id, ...offered(session) };
    })
    .onRequest("session/load", async ({ params }) => {
      const session = await open(host, params);
      for (const update of session.updates.replay(session.earlier)) notify(host, session, update);
      return offered(session);
    })
    .onRequest("session/resume", async ({ params }) => offered(await open(host, params)))
    .onRequest("session/list", ({ params }) => list(host, params))
    .onRequest("session/close", ({ params }) => close(host, found(params.sessionId)))
    .onRequest("session/delete", async ({ params: { sessionId } }) => {
      const session = host.sessions.get(sessionId);
      if (session) await close(host, session);
      await refused(clientOf(host).request("thread/delete", { threadId: sessionId }));
      return {};
    })
    .onRequest("session/set_mode", ({ params }) => {
      const session = found(params.sessionId);
      decide(session, "mode", params.modeId);
      notify(host, session, { sessionUpdate: "config_option_update", configOptions: configOptions(session.choices) });
      return {};
    })
    .onRequest("session/set_config_option", ({ params }) => {
      const session = found(params.sessionId);
      decide(session, params.configId, String(params.value));
      const { currentModeId } = modeState(session.choices);
      if (params.configId === "mode") notify(host, session, { sessionUpdate: "current_mode_update", currentModeId });
      return { configOptions: configOptions(session.choices) };
    })
    .onRequest("session/prompt", ({ params, signal }) =>
      refused(runPrompt(found(params.sessionId), params.prompt, { client: clientOf(host), signal })),
    )
    .onNotification("session/cancel", ({ params }) => {
      const session = host.sessions.get(params.sessionId);
      if (session) cancelTurn(session, clientOf(host));
    });
}

const offered = ({ choices }: Session) => ({ modes: modeState(choices), configOptions: configOptions(choices) });

async function open(host: Host, request: OpenRequest): Promise<Session> {
  const { options, capabilities } = host;
  const hasTerminals = capabilities._meta?.terminal_output === true;
  const context = { client: clientOf(host), overrides: options.overrides, hasTerminals };
  const session = await refused(openSession(context, request));
  host.sessions.set(session.id, session);
  // Editors do not know the session before they have the answer.
  setImmediate(() => notify(host, session, commandsOf(session)));
  return session;
}

function decide(session: Session, id: string, value: string): void {
  const { change, settings } = choose(session.choices, id, value);
  Object.assign(session.change, change);
  Object.assign(session.choices.settings, settings);
}

async function close(host: Host, session: Session): Promise<Record<string, never>> {
  const client = clientOf(host);
  cancelTurn(session, client);
  await session.turn?.over;
  host.sessions.delete(session.id);
  await refused(client.request("thread/unsubscribe", { threadId: session.id }));
  return {};
}

const pageSize = 50;

async function list(host: Host, { cwd, cursor }: ListSessionsRequest): Promise<ListSessionsResponse> {
  const request = { limit: pageSize, sortKey: "updated_at", cwd: cwd ?? null, cursor: cursor ?? null } as const;
  const { data, nextCursor } = await refused(clientOf(host).request("thread/list", request));
  return {
    sessions: data.map((thread) => ({
      sessionId: thread.id,
      cwd: thread.cwd,
      title: thread.name || thread.preview.split("\n")[0] || null,
      updatedAt: new Date(thread.updatedAt * 1000).toISOString(),
    })),
    nextCursor: nextCursor ?? null,
  };
}

/** What the app server rejects is the editor's to fix: its message says how. */
async function refused<Result>(request: Promise<Result>): Promise<Result> {
  try {
    return await request;
  } catch (error) {
    throw error instanceof Refusal ? new RequestError(-32602, error.message) : error;
  }
}

function notify({ connection, options }: Host, { id }: Session, update: SessionUpdate): void {
  connection?.client
    .notify("session/update", { sessionId: id, update })
    .catch((error: Error) => options.log(`The editor was not notified: ${error.message}`));
}

function follow(host: Host, notice: Notice): void {
  if (notice.method === "thread/started" && notice.params.thread.parentThreadId)
    host.parents.set(notice.params.thread.id, notice.params.thread.parentThreadId);
  if (notice.method === "serverRequest/resolved") host.questions.get(notice.params.requestId)?.abort();
  if (notice.method === "warning") host.options.log(notice.params.message);
  const { threadId } = notice.params as { threadId?: string | null };
  const session = threadId ? host.sessions.get(threadId) : undefined;
  if (!session) return;
  for (const update of session.updates.of(notice, Date.now())) notify(host, session, update);
  followTurn(session, notice, clientOf(host));
}

/** Questions of a sub-agent are asked in the session that it belongs to. */
async function ask(host: Host, question: Question): Promise<void> {
  const { connection, capabilities, parents, sessions, questions } = host;
  let threadId = question.params.threadId;
  for (let parent = parents.get(threadId); parent && !sessions.has(threadId); parent = parents.get(threadId))
    threadId = parent;
  const session = sessions.get(threadId);
  if (!session || !connection) return;
  const controller = new AbortController();
  questions.set(question.id, controller);
  const { id, choices, updates } = session;
  const context = { sessionId: id, cwd: choices.settings.cwd, updates, signal: controller.signal };
  await askEditor({ client: connection.client, capabilities }, question, context);
  questions.delete(question.id);
}
