// The proxy's end inside a sandbox: listens on loopback, and in the place of hosts where the sandbox is prepared for it, and
// forwards every connection to the host over one stream. The host can connect to ports inside over the same stream, and ask
// which process a connection belongs to.

import { readFileSync } from "node:fs";
import { connect, createServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { findHolder, findSocket, maxReads, readLines } from "../sockets/index.ts";
import {
  bridgeDescriptor,
  bridgePorts,
  type ChannelKind,
  numberOf,
  portKind,
  processKind,
  unroutableKind,
} from "../wire/index.ts";
import { type ClientIds, openClientIds } from "./client-ids.ts";
import { connectStreams } from "./connect-streams.ts";
import { type Multiplexer, openMultiplexer } from "./multiplexer.ts";
import { openSearches } from "./searches.ts";

interface BridgeContext {
  multiplexer: Multiplexer;
  clients: ClientIds;
}

/** Settles when clients can connect. The descriptors are those of listeners in the place of hosts. */
export async function openBridge(descriptors: number[] = []): Promise<void> {
  const stream = new Socket({ fd: bridgeDescriptor, readable: true, writable: true });
  const clients = openClientIds();
  const answerProcess = openProcessAnswers();
  const multiplexer = openMultiplexer({
    stream,
    onChannel(kind, channel, detail) {
      if (kind === portKind && detail.length === 2) connectTo(detail.readUInt16BE(), channel, ["127.0.0.1", "::1"]);
      else if (kind === processKind && detail.length === 2) void answerProcess(clients.find(detail), channel);
      else if (kind === unroutableKind)
        channel.end(String(countUnroutable() + (descriptors.length > 0 ? 0 : countUnheard())));
      else channel.destroy();
    },
  });
  await Promise.all([listen("http", { multiplexer, clients }), listen("socks", { multiplexer, clients })]);
  if (descriptors.length === 0) return;
  const { openTransparent } = await import("./transparent/index.ts");
  await openTransparent({ multiplexer, clients, descriptors, processOf, describeProcess });
}

function listen(kind: ChannelKind, { multiplexer, clients }: BridgeContext): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const id = clients.add(socket);
    if (id === undefined) return void socket.resetAndDestroy();
    connectStreams(socket, multiplexer.open(numberOf(kind), id));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(bridgePorts[kind], "127.0.0.1", resolve);
  });
}

/** Of many refused connections at once the processes of the first ones are known. */
function openProcessAnswers() {
  const searchFor = openSearches(maxSearches);
  return async (client: Socket | undefined, channel: Duplex): Promise<void> => {
    channel.on("error", () => {});
    channel.resume();
    channel.end(client ? await searchFor(() => processOf(client)).catch(() => "") : "");
  };
}

const maxSearches = 16;

async function processOf(client: Socket): Promise<string> {
  const peer = await findSocket(client, maxReads);
  return describeProcess(peer && (await findHolder(peer.inode)));
}

const describeProcess = (pid: string | undefined): string => (pid === undefined ? "" : `${commandName(pid)} (${pid})`);

/** Attempts to reach addresses other than those of the sandbox, which has no route to any. */
const countUnroutable = (): number => readCount("Ip:", "OutNoRoutes") + readSixthCount("Ip6OutNoRoutes");

/** Datagrams to ports where nothing listens: lookups of names, where no name server is configured. */
const countUnheard = (): number => readCount("Udp:", "NoPorts") + readSixthCount("Udp6NoPorts");

function readCount(protocol: string, name: string): number {
  const table = readLines("/proc/net/snmp").map((line) => line.split(" "));
  const [names = [], values = []] = table.filter(([first]) => first === protocol);
  return Number(values[names.indexOf(name)] ?? 0);
}

function readSixthCount(name: string): number {
  const table = readLines("/proc/net/snmp6").map((line) => line.split(/\s+/));
  return Number(table.find(([first]) => first === name)?.[1] ?? 0);
}

function commandName(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/comm`, "utf8").trim();
  } catch {
    return "ended";
  }
}

/** Servers on "localhost" may listen on either address. */
function connectTo(port: number, channel: Duplex, [host, ...others]: string[]): void {
  if (host === undefined) return void channel.destroy();
  const socket = connect({ host, port, allowHalfOpen: true });
  const tryNext = () => connectTo(port, channel, others);
  socket.once("error", tryNext);
  socket.once("connect", () => {
    socket.off("error", tryNext);
    if (channel.destroyed) socket.destroy();
    else connectStreams(socket, channel);
  });
}
