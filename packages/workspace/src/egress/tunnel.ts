// Connects a client to the host that it was allowed to reach, unless its first bytes ask for another one.
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { pipeOneWay } from "./connect-streams.ts";
import type { Denial } from "./dial.ts";
import { type FirstBytes, readFirstBytes } from "./first-bytes.ts";
import { hostText, readHost, readTarget, type Target } from "./hosts.ts";

export interface Tunnel {
  client: Duplex;
  socket: Socket;
  target: Target;
}

/** What the server sends goes to the client from the beginning: in some protocols it speaks first. */
export function openTunnel({ client, socket, target }: Tunnel, onDenied: (denial: Denial) => Promise<void>): void {
  let head: Buffer = Buffer.alloc(0);
  const stopReading = () => {
    client.off("data", take);
    client.off("end", pass);
    client.off("close", giveUp);
  };
  const giveUp = () => void socket.destroy();
  const pass = () => {
    stopReading();
    client.pause();
    if (head.length > 0) socket.write(head);
    pipeOneWay(client, socket);
  };
  const take = (data: Buffer) => {
    head = head.length === 0 ? data : Buffer.concat([head, data]);
    const first = readFirstBytes(head);
    if (first.kind === "part") return;
    const reason = mismatch(first, target);
    if (reason === null) return pass();
    stopReading();
    client.resume();
    const refused = onDenied({
      host: hostText(target.host),
      port: target.port,
      by: "policy",
      rule: "one host for each connection",
      reason,
    });
    // Before the client hears of it: its process is still there.
    void refused.finally(() => client.end(first.kind === "tls" ? unrecognizedName : "", giveUp));
  };
  client.on("data", take);
  client.on("end", pass);
  client.on("close", giveUp);
  pipeOneWay(socket, client);
  client.resume();
}

/** The fatal alert of TLS for a name that the server does not serve. */
const unrecognizedName = Buffer.of(21, 3, 3, 0, 2, 2, 112);

/** Null: the bytes ask for the target, or for no host in particular. */
export function mismatch(first: FirstBytes, { host, port }: Target): string | null {
  const allowed = `The connection to ${hostText(host)}:${port} was allowed`;
  switch (first.kind) {
    case "tls":
      return first.name === null || isSame(first.name, hostText(host))
        ? null
        : `${allowed}, but its TLS handshake asks for ${quote(first.name)} (SNI). Connect to that host by its own name.`;
    case "http": {
      const asked = first.host === null ? undefined : readTarget(first.host, port);
      if (first.host === null || (asked && hostText(asked.host) === hostText(host))) return null;
      return `${allowed}, but its request asks for ${quote(first.host)} (Host header). Connect to that host by its own name.`;
    }
    case "http2":
      return `${allowed}, but it is HTTP/2 without TLS, which can ask for any host. Use TLS or HTTP/1.1.`;
    case "invalid":
      return `${allowed}, but its first bytes are neither valid TLS nor valid HTTP.`;
    case "part":
    case "other":
      return null;
  }
}

function isSame(name: string, host: string): boolean {
  const read = readHost(name);
  return read !== undefined && hostText(read) === host;
}

const quote = (text: string) => JSON.stringify(text.slice(0, 255));
