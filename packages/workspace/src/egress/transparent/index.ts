// The bridge's end of transparent egress: names get addresses of the machine's own, and connections to these go to the host with
// their name. The host decides at each lookup and again at each connection.
import { createSocket, type Socket as DatagramSocket } from "node:dgram";
import { createServer, type Socket } from "node:net";
import { hostname } from "node:os";
import type { Duplex } from "node:stream";
import { findDatagramSocket, findHolder } from "../../sockets/index.ts";
import { connectionKind, listenerAddress, lookupAnswers, lookupKind, nameServerPort } from "../../wire/index.ts";
import type { ClientIds } from "../client-ids.ts";
import { connectStreams } from "../connect-streams.ts";
import type { Multiplexer } from "../multiplexer.ts";
import { openSearches } from "../searches.ts";
import { type AssignedNames, openAssignedNames } from "./assigned-names.ts";
import { type Answer, addressType, type Query } from "./messages.ts";
import { type LookupClient, openNameServer } from "./name-server.ts";
import { writeResolverSettings } from "./resolver-settings.ts";

export interface TransparentOptions {
  multiplexer: Multiplexer;
  clients: ClientIds;
  /** As `name (pid)`; empty where it is not known. */
  processOf(connection: Socket): Promise<string>;
  describeProcess(pid: string | undefined): string;
  /** Of the listeners, first that of lookups by UDP. */
  descriptors: number[];
}

/** Settles when names can be looked up. */
export async function openTransparent(options: TransparentOptions): Promise<void> {
  const context = { ...options, names: openAssignedNames(), findProcess: openLookupSearches(options) };
  const nameServer = openNameServer((query, client) => resolve(query, client, context));
  const [datagrams = -1, ...listeners] = options.descriptors;
  const accept = (socket: Socket) => {
    if (socket.localAddress === listenerAddress && socket.localPort === nameServerPort) nameServer.serve(socket);
    else connectByName(socket, context);
  };
  await Promise.all(listeners.map((descriptor) => listen(descriptor, accept)));
  nameServer.listen(await bind(datagrams));
  writeResolverSettings();
}

interface TransparentContext extends TransparentOptions {
  names: AssignedNames;
  findProcess(client: LookupClient): Promise<string>;
}

function listen(descriptor: number, accept: (socket: Socket) => void): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, accept);
  return new Promise((settle, reject) => {
    server.once("error", reject);
    server.listen({ fd: descriptor }, settle);
  });
}

function bind(descriptor: number): Promise<DatagramSocket> {
  const socket = createSocket("udp4");
  return new Promise((settle, reject) => {
    socket.once("error", reject);
    socket.bind({ fd: descriptor }, () => settle(socket));
  });
}

function connectByName(socket: Socket, { multiplexer, clients, names }: TransparentContext): void {
  const name = names.nameOf(socket.localAddress ?? "");
  const id = name === undefined ? undefined : clients.add(socket);
  if (name === undefined || id === undefined) return void socket.resetAndDestroy();
  socket.once("close", names.hold(name));
  const port = Buffer.alloc(2);
  port.writeUInt16BE(socket.localPort ?? 0);
  const detail = Buffer.concat([id, port, Buffer.from(name, "latin1")]);
  connectStreams(socket, multiplexer.open(connectionKind, detail));
}

/** Nothing of a query leaves the machine but the name of a host, to the proxy. */
async function resolve(query: Query, client: LookupClient, context: TransparentContext): Promise<Answer> {
  if (query.type !== addressType) return { kind: "empty" };
  const { name } = query;
  if (isOwnName(name)) return { kind: "address", address: "127.0.0.1" };
  const known = context.names.find(name);
  if (known !== undefined) return { kind: "address", address: known };
  const decision = await askHost(name, client, context);
  if (decision === "refused") return { kind: "no-such-name" };
  const address = decision === "allowed" ? context.names.assign(name) : undefined;
  return address === undefined ? { kind: "failed" } : { kind: "address", address };
}

const isOwnName = (name: string): boolean =>
  name === "localhost" || name.endsWith(".localhost") || name === hostname().toLowerCase();

/** A refusal is recorded before the client hears of it: its process is still there. */
async function askHost(
  name: string,
  client: LookupClient,
  context: TransparentContext,
): Promise<keyof typeof lookupAnswers | undefined> {
  const channel = context.multiplexer.open(lookupKind, Buffer.from(name, "latin1"));
  try {
    const answer = await firstByte(channel);
    if (answer === lookupAnswers.allowed) return "allowed";
    if (answer !== lookupAnswers.refused) return undefined;
    channel.end(await context.findProcess(client));
    await new Promise<void>((settle) => channel.resume().once("close", settle).once("end", settle));
    return "refused";
  } finally {
    channel.destroy();
  }
}

function firstByte(channel: Duplex): Promise<number | undefined> {
  channel.on("error", () => {});
  return new Promise((settle) => {
    channel.once("data", (data: Buffer) => {
      channel.pause();
      settle(data[0]);
    });
    channel.once("close", () => settle(undefined));
    channel.once("end", () => settle(undefined));
  });
}

/** The others do not wait: of many lookups at once the processes of the first ones are known. */
function openLookupSearches({ processOf, describeProcess }: TransparentOptions) {
  const searchFor = openSearches(maxSearches);
  return (client: LookupClient): Promise<string> =>
    searchFor(async () => {
      if (client.kind === "connection") return processOf(client.socket);
      const socket = findDatagramSocket(client.port);
      return describeProcess(socket && (await findHolder(socket.inode)));
    });
}

const maxSearches = 4;
