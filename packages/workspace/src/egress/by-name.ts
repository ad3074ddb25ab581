// The host's end of transparent egress: whether a name may be looked up, and connections to names. What arrives is hostile: the
// name is read as strictly as that of any proxy request, and every connection passes the same rules, whatever was answered before.
import type { Duplex } from "node:stream";
import { connectionKind, lookupAnswers, lookupKind } from "../wire/index.ts";
import { askForProcess, type openClients, readProcess } from "./clients.ts";
import { type Denial, type DialResult, denialOf } from "./dial.ts";
import { readHost, readTarget, type Target } from "./hosts.ts";
import type { Multiplexer } from "./multiplexer.ts";
import { type EgressRules, evaluateName } from "./rules.ts";
import type { Tunnel } from "./tunnel.ts";

export interface ByNameOptions {
  rules: EgressRules;
  clients: ReturnType<typeof openClients>;
  /** `connection` is that of the client that asks. */
  dial(target: Target, connection: Duplex, signal: AbortSignal): Promise<DialResult>;
  /** Connects both sides of a tunnel. */
  join(tunnel: Tunnel): void;
  report(denial: Denial, connection: Duplex): Promise<void>;
}

export interface OpenedChannel {
  number: number;
  channel: Duplex;
  detail: Buffer;
  multiplexer: Multiplexer;
}

/** Serves the channels of lookups and of connections to names; others are closed. */
export const openByName =
  (options: ByNameOptions) =>
  ({ number, channel, detail, multiplexer }: OpenedChannel): void => {
    const { rules, clients, report } = options;
    channel.on("error", () => {});
    const failed = () => void channel.destroy();
    if (number === lookupKind) {
      clients.add(channel, () => readProcess(channel));
      const name = detail.toString("latin1");
      answerLookup(channel, { name, rules }, (denial) => report(denial, channel)).catch(failed);
    } else if (number === connectionKind && detail.length >= minDetailBytes) {
      clients.add(channel, () => askForProcess(multiplexer, detail.subarray(0, 2)));
      const target = readTarget(`${detail.toString("latin1", 4)}:${detail.readUInt16BE(2)}`);
      connect(channel, target, options).catch(failed);
    } else failed();
  };

/** The number of the client, a port, and a name. */
const minDetailBytes = 5;

/** As for CONNECT, but without an answer: a refused connection is closed. */
async function connect(connection: Duplex, target: Target | undefined, { dial, join }: ByNameOptions): Promise<void> {
  if (target?.host.kind !== "name") return void connection.destroy();
  const stop = new AbortController();
  connection.once("close", () => stop.abort());
  const result = await dial(target, connection, stop.signal);
  if (result.kind !== "connected") return void connection.destroy();
  if (connection.destroyed) return void result.socket.destroy();
  join({ client: connection, socket: result.socket, target });
}

/** Resolves nothing: what a lookup asks for leaves the server only if a connection to it is allowed. */
async function answerLookup(
  channel: Duplex,
  { name, rules }: { name: string; rules: EgressRules },
  report: (denial: Denial) => Promise<void>,
): Promise<void> {
  const denial = denialOfName(name, rules);
  if (denial === null) return void channel.end(Buffer.of(lookupAnswers.allowed));
  channel.write(Buffer.of(lookupAnswers.refused));
  await report(denial);
  channel.end();
}

function denialOfName(name: string, rules: EgressRules): Denial | null {
  const host = readHost(name);
  // People read it, in terminals too.
  const shown = name.slice(0, maxShown).replace(/[^\x20-\x7e]/g, "?");
  if (host?.kind !== "name") return { ...invalidName, host: shown, reason: `"${shown}" is not the name of a host.` };
  if (!host.name.includes(".")) return { ...withoutDomain, host: shown, reason: `"${shown}" ${withoutDomain.reason}` };
  const decision = evaluateName(rules, host);
  return decision.kind === "allowed" ? null : denialOf({ host, port: 0 }, rules, decision);
}

const maxShown = 255;
const invalidName = { port: 0, by: "policy", rule: "valid hosts and ports" } as const;
const withoutDomain = {
  port: 0,
  by: "policy",
  rule: "names with a domain",
  reason: "has no domain. If the policy lists it, it is reached through the proxy alone.",
} as const;
