// Connects to a host the rules allow: judged by name, resolved once, and dialled at the very address that was checked.
import type { LookupAddress } from "node:dns";
import { connect, isIPv6, type Socket } from "node:net";
import { isOwn, isPublic } from "./addresses.ts";
import { hostText, readHost, type Target } from "./hosts.ts";
import { type EgressRules, judge, listsAddress } from "./rules.ts";

export interface Denial {
  host: string;
  port: number;
  by: "allowlist" | "denylist" | "policy";
  /** A sentence that names the rule. */
  reason: string;
}

export type Reached =
  | { kind: "connected"; socket: Socket }
  | { kind: "denied"; denial: Denial }
  | { kind: "failed"; reason: string };

export type Reach = (target: Target, signal: AbortSignal) => Promise<Reached>;

/** Every address of a name. Rejects when there is none. */
export type Resolve = (name: string) => Promise<LookupAddress[]>;

const connectLimitMs = 30_000;

export const openReach =
  (rules: EgressRules, resolve: Resolve): Reach =>
  async (target, signal) => {
    const judged = judge(rules, target);
    if (judged.kind === "blocked") return { kind: "denied", denial: denialOf(target, rules, judged) };
    try {
      const checked = await addressesOf(target, rules, resolve);
      if (checked.length === 0) return { kind: "denied", denial: notPublic(target) };
      return { kind: "connected", socket: await dial(target, checked, signal) };
    } catch (error) {
      return { kind: "failed", reason: `${named(target)} could not be reached: ${messageOf(error)}.` };
    }
  };

/** Those that may be dialled. A name that also leads somewhere private is reached at its public addresses only. */
async function addressesOf(target: Target, rules: EgressRules, resolve: Resolve): Promise<LookupAddress[]> {
  const { host, port } = target;
  if (host.kind === "address") return [entryOf(host.address)];
  const found = await resolve(host.name);
  return found.flatMap(({ address }) => {
    const plain = readHost(address);
    return plain?.kind === "address" && mayDial(plain.address, port, rules) ? [entryOf(plain.address)] : [];
  });
}

function mayDial(address: string, port: number, rules: EgressRules): boolean {
  const judged = judge(rules, { host: { kind: "address", address }, port });
  if (judged.kind === "blocked" && judged.by === "denylist") return false;
  return listsAddress(rules, address, port) || (isPublic(address) && !isOwn(address));
}

const entryOf = (address: string): LookupAddress => ({ address, family: isIPv6(address) ? 6 : 4 });

function dial({ host, port }: Target, checked: LookupAddress[], signal: AbortSignal): Promise<Socket> {
  const socket = connect({
    host: hostText(host),
    port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    // The addresses are known and checked; nobody is asked a second time.
    lookup: (_name, options, done) =>
      options.all ? done(null, checked) : done(null, checked[0]?.address ?? "", checked[0]?.family),
  });
  const giveUp = (reason: string) => () => void socket.destroy(new Error(reason));
  const limit = setTimeout(giveUp(`no answer within ${connectLimitMs} ms`), connectLimitMs);
  const stop = giveUp("the connection was given up");
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

/** When every address fails, the first failure stands for all. */
function messageOf(error: unknown): string {
  const [first] = error instanceof AggregateError ? error.errors : [error];
  return first instanceof Error ? first.message : String(first);
}

function denialOf(target: Target, rules: EgressRules, judged: { by: "allowlist" } | { by: "denylist"; rule: string }) {
  const { host, port } = target;
  const reason =
    judged.by === "denylist"
      ? `${named(target)} matches "${judged.rule}" in denied_domains.`
      : `${named(target)} is not in allowed_domains (${rules.allowed.map((rule) => rule.text).join(", ") || "empty"}).`;
  return { host: hostText(host), port, by: judged.by, reason };
}

function notPublic(target: Target): Denial {
  const reason = `${named(target)} leads to an address of this machine or of a private network. List the address itself in allowed_domains if that is meant.`;
  return { host: hostText(target.host), port: target.port, by: "policy", reason };
}

const named = ({ host, port }: Target): string =>
  host.kind === "address" && isIPv6(host.address) ? `[${host.address}]:${port}` : `${hostText(host)}:${port}`;
