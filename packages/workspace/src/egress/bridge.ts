// The proxy's end inside a sandbox: listens on loopback and carries every connection to the host over one stream.
import { createServer, Socket } from "node:net";
import { bridgeDescriptor, bridgePorts, type ChannelKind, numberOf } from "./bridge-wire.ts";
import { join } from "./join.ts";
import { type Multiplexer, openMultiplexer } from "./multiplexer.ts";

/** Settles when clients can connect. */
export async function openBridge(): Promise<void> {
  const stream = new Socket({ fd: bridgeDescriptor, readable: true, writable: true });
  const multiplexer = openMultiplexer({ stream });
  await Promise.all([listen("http", multiplexer), listen("socks", multiplexer)]);
}

function listen(kind: ChannelKind, multiplexer: Multiplexer): Promise<void> {
  const server = createServer({ allowHalfOpen: true }, (socket) => join(socket, multiplexer.open(numberOf(kind))));
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(bridgePorts[kind], "127.0.0.1", resolve);
  });
}
