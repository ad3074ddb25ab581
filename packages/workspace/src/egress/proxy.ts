// The proxy on the host: takes the connections of one sandbox and lets through what the rules allow.
import { promises as dns } from "node:dns";
import type { Duplex } from "node:stream";
import { type ChannelKind, kindOf } from "./bridge-wire.ts";
import { openHttpProxy } from "./http-proxy.ts";
import { openMultiplexer } from "./multiplexer.ts";
import { type Denial, openReach, type Reach, type Resolve } from "./reach.ts";
import type { EgressRules } from "./rules.ts";
import { serveSocks } from "./socks.ts";

export interface EgressOptions {
  rules: EgressRules;
  onDenied(denial: Denial): void;
  /** How names are looked up; the system's way when absent. */
  resolve?: Resolve;
}

export interface EgressProxy {
  /** One connection of a client that speaks this protocol. */
  accept(kind: ChannelKind, connection: Duplex): void;
  /** All connections a bridge brings, until its stream ends. */
  serveBridge(stream: Duplex): void;
}

export function openEgressProxy({ rules, onDenied, resolve = lookUp }: EgressOptions): EgressProxy {
  const judged = openReach(rules, resolve);
  const reach: Reach = async (target, signal) => {
    const reached = await judged(target, signal);
    if (reached.kind === "denied") onDenied(reached.denial);
    return reached;
  };
  const http = openHttpProxy({ reach, onDenied });

  function accept(kind: ChannelKind, connection: Duplex): void {
    if (kind === "http") http.serve(connection);
    else serveSocks(connection, reach).catch(() => connection.destroy());
  }

  return {
    accept,
    serveBridge: (stream) =>
      void openMultiplexer({
        stream,
        onChannel(number, channel) {
          const kind = kindOf(number);
          if (kind === undefined) channel.destroy();
          else accept(kind, channel);
        },
      }),
  };
}

const lookUp: Resolve = (name) => dns.lookup(name, { all: true, verbatim: true });
