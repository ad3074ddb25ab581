// The proxy on the host: accepts the connections of one sandbox and forwards what the rules allow.

import { promises as dns } from "node:dns";
import type { Duplex } from "node:stream";
import { type ChannelKind, firstHostChannel, kindOf, portKind } from "../wire/index.ts";
import { type Denial, type Dial, openDialer, type Resolve } from "./dial.ts";
import { openHttpProxy } from "./http-proxy.ts";
import { openMultiplexer } from "./multiplexer.ts";
import type { EgressRules } from "./rules.ts";
import { serveSocks } from "./socks.ts";

export interface EgressOptions {
  rules: EgressRules;
  onDenied(denial: Denial): void;
  /** DNS resolution; the system's when absent. */
  resolve?: Resolve;
}

export interface EgressProxy {
  /** Serves one client connection of this protocol. */
  accept(kind: ChannelKind, connection: Duplex): void;
  /** Serves all connections of a bridge, until its stream ends. */
  serveBridge(stream: Duplex): Bridge;
}

export interface Bridge {
  /** A connection to a port inside; closed at once if nothing listens there. */
  dial(port: number): Duplex;
}

export function openEgressProxy({ rules, onDenied, resolve = lookUp }: EgressOptions): EgressProxy {
  const dialAllowed = openDialer(rules, resolve);
  const dial: Dial = async (target, signal) => {
    const result = await dialAllowed(target, signal);
    if (result.kind === "denied") onDenied(result.denial);
    return result;
  };
  const http = openHttpProxy({ dial, onDenied });

  function accept(kind: ChannelKind, connection: Duplex): void {
    if (kind === "http") http.serve(connection);
    else serveSocks(connection, dial).catch(() => connection.destroy());
  }

  return {
    accept,
    serveBridge(stream) {
      const multiplexer = openMultiplexer({
        stream,
        firstChannel: firstHostChannel,
        onChannel(number, channel) {
          const kind = kindOf(number);
          if (kind === undefined) channel.destroy();
          else accept(kind, channel);
        },
      });
      return { dial: (port) => multiplexer.open(portKind, portDetail(port)) };
    },
  };
}

function portDetail(port: number): Buffer {
  const detail = Buffer.alloc(2);
  detail.writeUInt16BE(port);
  return detail;
}

const lookUp: Resolve = (name) => dns.lookup(name, { all: true, verbatim: true });
