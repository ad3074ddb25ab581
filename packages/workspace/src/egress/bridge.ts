// The proxy's end inside a sandbox: listens on loopback and forwards every connection to the host over one stream. The host can
// connect to ports inside over the same stream.

import { connect, createServer, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { bridgeDescriptor, bridgePorts, type ChannelKind, numberOf, portKind } from "../wire/index.ts";
import { connectStreams } from "./connect-streams.ts";
import { type Multiplexer, openMultiplexer } from "./multiplexer.ts";

/** Settles when clients can connect. */
export async function openBridge(): Promise<void> {
  const stream = new Socket({ fd: bridgeDescriptor, readable: true, writable: true });
  const multiplexer = openMultiplexer({
    stream,
    onChannel(kind, channel, detail) {
      if (kind === portKind && detail.length === 2) connectTo(detail.readUInt16BE(), channel, ["127.0.0.1", "::1"]);
      else channel.destroy();
    },
  });
  await Promise.all([listen("http", multiplexer), listen("socks", multiplexer)]);
}

function listen(kind: ChannelKind, multiplexer: Multiplexer): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) =>
    connectStreams(socket, multiplexer.open(numberOf(kind))),
  );
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(bridgePorts[kind], "127.0.0.1", resolve);
  });
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
