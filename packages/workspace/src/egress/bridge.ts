// The proxy's end inside a sandbox: listens on loopback and forwards every connection to the host over one stream. The host can
// connect to ports inside over the same stream, and ask which process a connection belongs to.

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
import { connectStreams } from "./connect-streams.ts";
import { type Multiplexer, openMultiplexer } from "./multiplexer.ts";

interface BridgeContext {
  multiplexer: Multiplexer;
  /** By the port of the client. */
  clients: Map<number, Socket>;
}

/** Settles when clients can connect. */
export async function openBridge(): Promise<void> {
  const stream = new Socket({ fd: bridgeDescriptor, readable: true, writable: true });
  const clients = new Map<number, Socket>();
  const multiplexer = openMultiplexer({
    stream,
    onChannel(kind, channel, detail) {
      if (kind === portKind && detail.length === 2) connectTo(detail.readUInt16BE(), channel, ["127.0.0.1", "::1"]);
      else if (kind === processKind && detail.length === 2)
        void answerProcess(clients.get(detail.readUInt16BE()), channel);
      else if (kind === unroutableKind) channel.end(String(countUnroutable()));
      else channel.destroy();
    },
  });
  await Promise.all([listen("http", { multiplexer, clients }), listen("socks", { multiplexer, clients })]);
}

function listen(kind: ChannelKind, { multiplexer, clients }: BridgeContext): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const port = socket.remotePort ?? 0;
    clients.set(port, socket);
    socket.once("close", () => clients.get(port) === socket && clients.delete(port));
    const detail = Buffer.alloc(2);
    detail.writeUInt16BE(port);
    connectStreams(socket, multiplexer.open(numberOf(kind), detail));
  });
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(bridgePorts[kind], "127.0.0.1", resolve);
  });
}

async function answerProcess(client: Socket | undefined, channel: Duplex): Promise<void> {
  channel.on("error", () => {});
  channel.resume();
  const peer = client && (await findSocket(client, maxReads));
  const pid = peer && (await findHolder(peer.inode));
  channel.end(pid === undefined ? "" : `${commandName(pid)} (${pid})`);
}

/**
 * Attempts to reach addresses other than those of the sandbox, which has no route to any, and datagrams to ports where nothing
 * listens: lookups of names, where no name server is configured.
 */
function countUnroutable(): number {
  const table = readLines("/proc/net/snmp").map((line) => line.split(" "));
  const count = (protocol: string, name: string) => {
    const [names = [], values = []] = table.filter(([first]) => first === protocol);
    return Number(values[names.indexOf(name)] ?? 0);
  };
  const sixth = readLines("/proc/net/snmp6").map((line) => line.split(/\s+/));
  const countSixth = (name: string) => Number(sixth.find(([first]) => first === name)?.[1] ?? 0);
  return (
    count("Ip:", "OutNoRoutes") + count("Udp:", "NoPorts") + countSixth("Ip6OutNoRoutes") + countSixth("Udp6NoPorts")
  );
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
