// Where workers connect: authenticates each, registers it, and keeps its connection for the runs that use it.
import type { RegisterRequest, WorkerHealth, WorkerReceives } from "@agentcli/protocol/worker-link";
import { identityRequest, linkVersion } from "@agentcli/protocol/worker-link-names";
import { type Answer, endAfterSilence, type Link, type LinkRequest, openLink } from "@agentcli/workspace";
import { sql } from "kysely";
import { createWebSocketStream, type WebSocket, WebSocketServer } from "ws";
import {
  type AcceptSocket,
  ApiError,
  addressFrom,
  listNodes,
  type Principal,
  type ServerContext,
  type TakeSocket,
} from "../foundation/index.ts";
import type { Principals } from "../identity/index.ts";
import { type Credentials, openCredentials } from "./credentials.ts";
import { answerIdentity, type MintIdentity } from "./identity-request.ts";
import { lossOf, noteWrongVersion, readHealth } from "./loss.ts";
import { disconnectWorker, registerWorker, releaseIdleClaims } from "./store.ts";
import { readToken, type TokenGrant } from "./tokens.ts";

export interface ConnectedWorker {
  workerId: string;
  teamId: number;
  /** Of this connection. */
  connectedAt: string;
  link: Link;
  /** Whether the key it connected with may still be used. Closes the connection if not. */
  isAllowed(): Promise<boolean>;
  /** What its operator lets the platform send there. */
  receives: WorkerReceives;
  /** Agents that it was asked to serve over this connection, by the name of their directory. */
  served: Map<string, ServedAgent>;
}

export interface ServedAgent {
  agentId: string;
  /** The last run that has claimed the worker. */
  runId: string;
}

export interface Gateway {
  accept: AcceptSocket;
  /** Undefined if it is not connected to this server. */
  find(teamId: number, workerId: string): ConnectedWorker | undefined;
  list(): ConnectedWorker[];
  close(): void;
}

/** Frames are small; what is larger is not from a worker. */
const maxMessageBytes = 4 * 1024 * 1024;
/** How long a connection may take to register. */
const registerTimeoutMs = 30_000;

/** The workers that are connected to this server. */
type Connections = Map<string, ConnectedWorker>;

const nameOf = ({ teamId, workerId }: { teamId: number; workerId: string }): string => `${teamId}/${workerId}`;

export interface GatewayOptions {
  principals: Principals;
  mintIdentity: MintIdentity;
}

export function openGateway(context: ServerContext, { principals, mintIdentity }: GatewayOptions): Gateway {
  const { metrics, settings } = context;
  const connections: Connections = new Map();
  const credentials = openCredentials({ db: context.db, principals });
  const sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false, maxPayload: maxMessageBytes });
  metrics.gauge(
    "platform_workers_connected",
    "Workers that are connected to this server",
    async () => connections.size,
  );
  return {
    async accept(request) {
      const { principal, grant } = await authenticate(context, principals, request.req.header("authorization"));
      if (!settings.roles.includes("runner")) return { principal, take: await forwardToRunner(context, request) };
      const open = (socket: WebSocket) =>
        void serve(socket, { principal, grant, credentials, mintIdentity, context, connections });
      return { principal, take: (...upgrade) => sockets.handleUpgrade(...upgrade, open) };
    },
    list: () => [...connections.values()],
    find: (teamId, workerId) => connections.get(nameOf({ teamId, workerId })),
    close() {
      credentials.close();
      for (const { link } of connections.values()) link.close();
      sockets.close();
    },
  };
}

/** This server drives no runs: the connection goes through it to one that does. */
async function forwardToRunner(
  { db, forwarding, log }: ServerContext,
  request: Parameters<AcceptSocket>[0],
): Promise<TakeSocket> {
  const nodeId = forwarding.forwarded(request.env.incoming) === null ? await findRunner(db) : null;
  if (nodeId === null)
    throw new ApiError("unavailable", "No server with the role runner is running. Start one.", { retryAfter: 5 });
  return (incoming, stream, head) => {
    forwarding.socket({ request: incoming, stream, head, of: "worker" }, nodeId).catch((error: unknown) => {
      log.error("worker.not_forwarded", error, { nodeId });
      stream.destroy();
    });
  };
}

/** The one with the fewest workers; null if none can be reached. */
async function findRunner(db: ServerContext["db"]): Promise<string | null> {
  const { rows } = await sql<{ node_id: string; workers: number }>`
    select node_id, count(*)::integer as workers from workers where node_id is not null group by node_id
  `.execute(db);
  const workersOf = (id: string) => rows.find(({ node_id }) => node_id === id)?.workers ?? 0;
  const runners = (await listNodes(db)).filter(
    ({ isRunning, roles, address }) =>
      isRunning && address !== null && addressFrom(address) !== null && roles.includes("runner"),
  );
  return runners.sort((a, b) => workersOf(a.id) - workersOf(b.id))[0]?.id ?? null;
}

interface Connecting {
  principal: Principal;
  /** Of the token that it connects with; null: it has a key. */
  grant: TokenGrant | null;
  credentials: Credentials;
  mintIdentity: MintIdentity;
  context: ServerContext;
  connections: Connections;
}

/** From the first message of a connection to its end. */
async function serve(socket: WebSocket, connecting: Connecting): Promise<void> {
  const stream = createWebSocketStream(socket, { highWaterMark: 1024 * 1024 });
  stream.on("error", () => {});
  const end: ConnectionEnd = { health: "well", isSilent: false };
  await endAfterSilence(socket, connecting.context.settings.workers.silenceMs, () => {
    end.isSilent = true;
  });
  const late = setTimeout(() => socket.terminate(), registerTimeoutMs);
  const { credentials, principal, grant } = connecting;
  const credential = { keyId: principal.keyId, tokenId: grant?.tokenId ?? null };
  const isAllowed = async () => {
    if (await credentials.isValid(credential)) return true;
    socket.terminate();
    return false;
  };
  const unwatch = credentials.watch(credential, () => socket.terminate());
  let registered: Promise<ConnectedWorker> | undefined;
  const link: Link = await openLink({
    stream,
    side: "platform",
    async onRequest(request, answer) {
      if (registered !== undefined && request.name === "health") {
        end.health = readHealth(request.body);
        answer({});
        return void request.stream.end();
      }
      if (registered !== undefined && request.name === identityRequest)
        return answerIdentity(await registered, { request, answer }, { ...connecting.context, ...connecting });
      if (registered !== undefined && request.name === "release")
        return giveUp(await registered, answer, { ...connecting, stream: request.stream });
      if (registered !== undefined || request.name !== "register") throw refused("A worker registers once.");
      registered = register(request, answer, { ...connecting, link, isAllowed });
      await registered;
      clearTimeout(late);
    },
  });
  await link.closed;
  clearTimeout(late);
  unwatch();
  const worker = await registered?.catch(() => undefined);
  if (worker !== undefined) await disconnect(worker, end, connecting);
}

/** What a connection that ends tells about its worker. */
interface ConnectionEnd {
  health: WorkerHealth;
  /** Nothing came for too long. */
  isSilent: boolean;
}

async function register(
  { body, stream }: LinkRequest,
  answer: Answer,
  { principal, grant, context, connections, link, isAllowed }: Connecting & Pick<ConnectedWorker, "link" | "isAllowed">,
): Promise<ConnectedWorker> {
  if (!isKnownVersion(body)) await noteWrongVersion(context.db, principal.teamId, body);
  const request = await readRegistration(body, principal);
  if (grant !== null) checkGrant(grant, request);
  const registrant = { principal, nodeId: context.nodeId, credential: grant === null ? "key" : "token" } as const;
  const registered = await registerWorker(context.db, registrant, request);
  if (registered.kind === "refused") throw refused(registered.message);
  // The worker tries again: its former process may be about to end.
  if (registered.kind === "elsewhere") throw Object.assign(new Error(registered.message), { code: "elsewhere" });
  const { connectedAt } = registered;
  const { teamId } = principal;
  const { workerId, pool = "", version, receives = {} } = request;
  const worker = { workerId, teamId, connectedAt, link, isAllowed, receives, served: new Map() };
  // The former connection may be half open: the worker would not have come back otherwise.
  connections.get(nameOf(worker))?.link.close();
  connections.set(nameOf(worker), worker);
  const silenceSeconds = context.settings.workers.silenceMs / 1_000;
  answer({ linkVersion, workerId, silenceSeconds, offers: [identityRequest] });
  stream.end();
  context.log.info("worker.connected", { workerId, teamId, pool, version });
  return worker;
}

/** The worker ends for good: its agents get another one with their next prompt. */
async function giveUp(
  { teamId, workerId }: ConnectedWorker,
  answer: Answer,
  { context: { db }, stream }: Connecting & Pick<LinkRequest, "stream">,
): Promise<void> {
  await releaseIdleClaims(db, { teamId, workerId });
  answer({});
  stream.end();
}

async function disconnect(
  worker: ConnectedWorker,
  end: ConnectionEnd,
  { context, connections }: Connecting,
): Promise<void> {
  const { teamId, workerId } = worker;
  const { log, db } = context;
  const reason = lossOf(end);
  log.info("worker.disconnected", { workerId, teamId, reason });
  // It may have connected again.
  if (connections.get(nameOf(worker)) === worker) connections.delete(nameOf(worker));
  await disconnectWorker(db, worker, reason).catch((error: unknown) =>
    log.error("worker.not_disconnected", error, { workerId }),
  );
}

const scope = "agents:write";

/** By a key, or by a token that was made for one claim. */
async function authenticate(
  { db }: ServerContext,
  principals: Principals,
  authorization: string | undefined,
): Promise<Pick<Connecting, "principal" | "grant">> {
  const grant = await readToken({ db, principals }, authorization);
  const authentication = grant ? { kind: "known" as const, ...grant } : await principals.authenticate(authorization);
  if (authentication.kind === "refused") throw new ApiError("unauthorized", authentication.reason);
  const { principal } = authentication;
  if (!principal.scopes.includes(scope))
    throw new ApiError("forbidden", `The key ${principal.keyName} lacks the scope ${scope}. Use one that has it.`);
  return { principal, grant };
}

function checkGrant({ workerId, pool }: TokenGrant, request: RegisterRequest): void {
  if (request.workerId !== workerId)
    throw forbidden(`The token is for the worker ${workerId}. Start it with --worker-id ${workerId}.`);
  if (request.pool !== pool)
    throw forbidden(`The token is for the pool ${pool}. Start the worker with --pool ${pool}.`);
}

const versionIn = (body: unknown): number => Number(Object(body).linkVersion);

/** One version older or newer works. */
const isKnownVersion = (body: unknown): boolean => Math.abs(versionIn(body) - linkVersion) <= 1;

/** Unknown members are ignored: a newer worker may send more. */
async function readRegistration(body: unknown, principal: Principal): Promise<RegisterRequest> {
  const version = versionIn(body);
  if (version < linkVersion - 1) throw refused("This worker is too old for the platform. Upgrade the worker.");
  if (version > linkVersion + 1) throw refused("This worker is too new for the platform. Upgrade the platform.");
  const { RegisterRequest } = await import("@agentcli/protocol/worker-link");
  const parsed = RegisterRequest.safeParse(body);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw refused(`The registration is not valid: ${issue?.path.join(".")}: ${issue?.message}.`);
  }
  const { pool } = parsed.data;
  if (pool === undefined && principal.kind !== "user")
    throw forbidden("A personal machine needs a key of a user. Use one, or serve a pool with --pool NAME.");
  if (pool !== undefined && principal.kind !== "service_account")
    throw forbidden(
      "A pool needs a key of a service account. Create one with: platform keys create --name NAME --service-account.",
    );
  return parsed.data;
}

const refused = (message: string): Error => Object.assign(new Error(message), { code: "refused" });
const forbidden = (message: string): Error => Object.assign(new Error(message), { code: "forbidden" });
