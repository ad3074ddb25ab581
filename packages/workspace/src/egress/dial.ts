// Connects to a host the rules allow: checked by name, resolved once, and connected to the very address that was checked.
import type { LookupAddress } from "node:dns";
import { connect, isIPv6, type Socket } from "node:net";
import { isOwn, isPublic } from "./addresses.ts";
import { noteConnection } from "./connections.ts";
import { hostText, readHost, type Target } from "./hosts.ts";
import { type EgressRules, evaluate, explainMiss, listsAddress } from "./rules.ts";

export interface Denial {
  host: string;
  port: number;
  by: "allowlist" | "denylist" | "policy";
  /** What refused it: the list or the entry of a list, as it is configured. */
  rule: string;
  /** A sentence that names the rule. */
  reason: string;
  /** The command that asked, as `name (pid)`; absent where it is not known. */
  process?: string;
}

export type DialResult =
  | { kind: "connected"; socket: Socket }
  | { kind: "denied"; denial: Denial }
  | { kind: "failed"; reason: string };

export type Dial = (target: Target, signal: AbortSignal) => Promise<DialResult>;

/** Every address of a name. Rejects when there is none. */
export type Resolve = (name: string, signal: AbortSignal) => Promise<Pick<LookupAddress, "address">[]>;

const connectTimeoutMs = 30_000;

export const openDialer =
  (rules: EgressRules, resolve: Resolve): Dial =>
  async (target, signal) => {
    const decision = evaluate(rules, target);
    if (decision.kind === "blocked") return { kind: "denied", denial: denialOf(target, rules, decision) };
    try {
      const checked = await allowedAddresses(target, rules, (name) => resolve(name, signal));
      if (checked.allowed.length === 0) return { kind: "denied", denial: checked.listed ?? notPublic(target, rules) };
      return { kind: "connected", socket: await connectTo(target, checked.allowed, signal) };
    } catch (error) {
      return { kind: "failed", reason: `${describeTarget(target)} could not be reached: ${messageOf(error)}.` };
    }
  };

interface CheckedAddresses {
  /** Those that may be connected to. */
  allowed: LookupAddress[];
  /** One of the others that denied_domains lists. */
  listed: Denial | undefined;
}

/** A name that also has private addresses is reached at its public ones only. */
async function allowedAddresses(
  target: Target,
  rules: EgressRules,
  resolve: (name: string) => ReturnType<Resolve>,
): Promise<CheckedAddresses> {
  const { host, port } = target;
  if (host.kind === "address") return { allowed: [entryOf(host.address)], listed: undefined };
  const checked: CheckedAddresses = { allowed: [], listed: undefined };
  for (const { address } of await resolve(host.name)) {
    const plain = readHost(address);
    if (plain?.kind !== "address") continue;
    const decision = evaluate(rules, { host: plain, port });
    if (decision.kind === "blocked" && decision.by === "denylist")
      checked.listed ??= listedAddress(target, plain.address, decision.rule);
    else if (listsAddress(rules, plain.address, port) || (isPublic(plain.address) && !isOwn(plain.address)))
      checked.allowed.push(entryOf(plain.address));
  }
  return checked;
}

const entryOf = (address: string): LookupAddress => ({ address, family: isIPv6(address) ? 6 : 4 });

function connectTo({ host, port }: Target, checked: LookupAddress[], signal: AbortSignal): Promise<Socket> {
  const socket = connect({
    host: hostText(host),
    port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    // Only the addresses that were checked: no second DNS lookup.
    lookup: (_name, options, done) =>
      options.all ? done(null, checked) : done(null, checked[0]?.address ?? "", checked[0]?.family),
  });
  noteConnection(socket);
  const giveUp = (reason: string) => () => void socket.destroy(new Error(reason));
  const limit = setTimeout(giveUp(`timed out after ${connectTimeoutMs} ms`), connectTimeoutMs);
  const stop = giveUp("the client closed the connection");
  signal.addEventListener("abort", stop);
  return new Promise<Socket>((resolve, reject) => {
    socket.once("error", reject);
    socket.once("connect", () => resolve(socket));
    if (signal.aborted) stop();
  }).finally(() => {
    clearTimeout(limit);
    signal.removeEventListener("abort", stop);
  });
}

/** When every address fails, the first failure is reported. */
function messageOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return first instanceof Error ? first.message : String(first);
}

export function denialOf(
  target: Target,
  rules: EgressRules,
  decision: { by: "allowlist" } | { by: "denylist"; rule: string },
) {
  const { host, port } = target;
  const { by } = decision;
  if (decision.by === "denylist") {
    const reason = `${describeTarget(target)} matches "${decision.rule}" in denied_domains.`;
    return { host: hostText(host), port, by, rule: decision.rule, reason };
  }
  const { name = "allowed_domains" } = rules;
  const missing = `${describeTarget(target)} is not in ${name} (${listed(rules)}).`;
  const reason = `${missing} ${explainMiss(rules, target) ?? ""}`.trim();
  return { host: hostText(host), port, by, rule: name, reason };
}

const maxListed = 12;

function listed({ allowed }: EgressRules): string {
  const names = allowed.map((rule) => rule.text);
  if (names.length <= maxListed) return names.join(", ") || "empty";
  return `${names.slice(0, maxListed).join(", ")} and ${names.length - maxListed} more`;
}

function listedAddress(target: Target, address: string, rule: string): Denial {
  const reason = `${describeTarget(target)} resolves to ${address}, which matches "${rule}" in denied_domains.`;
  return { host: hostText(target.host), port: target.port, by: "denylist", rule, reason };
}

function notPublic(target: Target, { name = "allowed_domains" }: EgressRules): Denial {
  const reason = `${describeTarget(target)} resolves to an address of this machine or a private network. To allow it, list the address itself in ${name}.`;
  return { host: hostText(target.host), port: target.port, by: "policy", rule: "no private addresses", reason };
}

/** Port 0: a lookup, which has none. */
const describeTarget = ({ host, port }: Target): string => {
  if (port === 0) return hostText(host);
  return host.kind === "address" && isIPv6(host.address) ? `[${host.address}]:${port}` : `${hostText(host)}:${port}`;
};
