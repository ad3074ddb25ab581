// The proxy on the host: accepts the connections of one sandbox and forwards what the rules allow.

import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { resolveName } from "../names/index.ts";
import { type ChannelKind, firstHostChannel, kindOf, portKind } from "../wire/index.ts";
import { openByName } from "./by-name.ts";
import { askForProcess, askForUnroutable, openClients } from "./clients.ts";
import { type Denial, openDialer, type Resolve } from "./dial.ts";
import { hostText, type Target } from "./hosts.ts";
import { openHttpProxy } from "./http-proxy.ts";
import { openMultiplexer } from "./multiplexer.ts";
import type { Placeholders } from "./placeholders/index.ts";
import { type EgressRules, listenedPorts } from "./rules.ts";
import { serveSocks } from "./socks.ts";
import { openTunnel, type Tunnel } from "./tunnel.ts";

/** One connection that was allowed, when it has ended. */
export interface Traffic {
  host: string;
  port: number;
  bytesSent: number;
  bytesReceived: number;
}

export interface EgressOptions {
  rules: EgressRules;
  onDenied(denial: Denial): void;
  onTraffic?: ((traffic: Traffic) => void) | undefined;
  /** DNS resolution; the system's when absent. */
  resolve?: Resolve;
  /** Puts values of secrets into requests; connections to other hosts are not looked into. */
  placeholders?: Pick<Placeholders, "takes"> | undefined;
}

export interface EgressProxy {
  /** On which a bridge listens in the place of hosts: those that are allowed, and usual ones, so that refusals name the host. */
  ports: number[];
  /** Serves one client connection of this protocol. */
  accept(kind: ChannelKind, connection: Duplex): void;
  /** Serves all connections of a bridge, until its stream ends. */
  serveBridge(stream: Duplex): Bridge;
}

export interface Bridge {
  /** A connection to a port inside; closed at once if nothing listens there. */
  dial(port: number): Duplex;
  /** How many packets of commands had no route so far. */
  countUnroutable(): Promise<number>;
}

export function openEgressProxy(options: EgressOptions): EgressProxy {
  const { rules, onDenied, onTraffic, resolve = lookUp, placeholders } = options;
  const clients = openClients();
  const dialAllowed = openDialer(rules, resolve);

  async function report(denial: Denial, connection: Duplex): Promise<void> {
    const process = await clients.processOf(connection);
    onDenied(process === undefined ? denial : { ...denial, process });
  }

  /** A refusal is reported before the client hears of it: its process is still there. */
  async function dial(target: Target, connection: Duplex, signal: AbortSignal) {
    const result = await dialAllowed(target, signal);
    if (result.kind === "denied") await report(result.denial, connection);
    if (result.kind === "connected" && onTraffic) countBytes(result.socket, target, onTraffic);
    return result;
  }

  const later = (denial: Denial, connection: Duplex) => void report(denial, connection);

  function join(tunnel: Tunnel): void {
    const take = placeholders?.takes(tunnel.target) ?? openTunnel;
    take(tunnel, (denial) => report(denial, tunnel.client));
  }

  const http = openHttpProxy({ dial, join, onDenied: later });

  function accept(kind: ChannelKind, connection: Duplex): void {
    if (kind === "http") return void http.serve(connection);
    const socks = {
      dial: (target: Target, signal: AbortSignal) => dial(target, connection, signal),
      join,
    };
    serveSocks(connection, socks).catch(() => connection.destroy());
  }

  const acceptByName = openByName({ rules, clients, dial, join, report });

  return {
    ports: listenedPorts(rules),
    accept,
    serveBridge(stream) {
      const multiplexer = openMultiplexer({
        stream,
        firstChannel: firstHostChannel,
        onChannel(number, channel, detail) {
          const kind = kindOf(number);
          if (kind === undefined) return acceptByName({ number, channel, detail, multiplexer });
          if (detail.length === 2) clients.add(channel, () => askForProcess(multiplexer, detail));
          accept(kind, channel);
        },
      });
      return {
        dial: (port) => multiplexer.open(portKind, portDetail(port)),
        countUnroutable: () => askForUnroutable(multiplexer),
      };
    },
  };
}

function countBytes(socket: Socket, { host, port }: Target, onTraffic: (traffic: Traffic) => void): void {
  socket.once("close", () =>
    onTraffic({ host: hostText(host), port, bytesSent: socket.bytesWritten, bytesReceived: socket.bytesRead }),
  );
}

function portDetail(port: number): Buffer {
  const detail = Buffer.alloc(2);
  detail.writeUInt16BE(port);
  return detail;
}

const lookUp: Resolve = async (name, signal) => (await resolveName(name, signal)).map((address) => ({ address }));
