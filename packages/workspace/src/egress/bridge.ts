// The proxy's end inside a sandbox: listens on loopback and forwards every connection to the host over one stream.

import { createServer, Socket } from "node:net";
import { bridgeDescriptor, bridgePorts, type ChannelKind, numberOf } from "../wire/index.ts";
import { connectStreams } from "./connect-streams.ts";
import { type Multiplexer, openMultiplexer } from "./multiplexer.ts";

/** Settles when clients can connect. */
export async function openBridge(): Promise<void> {
  const stream = new Socket({ fd: bridgeDescriptor, readable: true, writable: true });
  const multiplexer = openMultiplexer({ stream });
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
