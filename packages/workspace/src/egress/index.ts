// The proxy to allowed domains: its end inside the sandbox, its end on the host. Loaded when used.
import type { Socket } from "node:net";
import type { TargetExplanation } from "./explain.ts";
import type { Multiplexer, MultiplexerOptions } from "./multiplexer.ts";
import type { PlaceholderOptions, Placeholders } from "./placeholders/index.ts";
import type { EgressOptions, EgressProxy } from "./proxy.ts";
import type { EgressRules } from "./rules.ts";

export { isOwn } from "./addresses.ts";
export { isProxied } from "./connections.ts";
export type { Denial } from "./dial.ts";
export type { TargetExplanation } from "./explain.ts";
export type { BoundSecret, PlaceholderOptions, Placeholders, SecretUse } from "./placeholders/index.ts";
export type { Bridge, EgressProxy, Traffic } from "./proxy.ts";

export const openEgressProxy = async (options: EgressOptions): Promise<EgressProxy> =>
  (await import("./proxy.ts")).openEgressProxy(options);

/** For the programs of one machine. Throws InvalidDomainRule for a host that a secret cannot be bound to. */
export const openPlaceholders = async (options: PlaceholderOptions): Promise<Placeholders> =>
  (await import("./placeholders/index.ts")).openPlaceholders(options);

/** Null: the value is too short for one, or has characters that no header can have. */
export const placeholderFor = async (value: string): Promise<string | null> =>
  (await import("./placeholders/index.ts")).placeholderFor(value);

/** Throws InvalidDomainRule for what a secret cannot be bound to. */
export const checkBinding = async (host: string): Promise<void> => void (await import("./rules.ts")).readBinding(host);

/** Throws InvalidDomainRule for an entry that is not a domain or an address. */
export const readRules = async (allowed: string[], denied: string[], name?: string): Promise<EgressRules> => ({
  ...(await import("./rules.ts")).readRules(allowed, denied),
  name,
});

/** Which rule decides about `host` or `host:port`, by its name. */
export const explainTarget = async (rules: EgressRules, text: string): Promise<TargetExplanation> =>
  (await import("./explain.ts")).explainTarget(rules, text);

/** Connects the host itself to the public web, by the same rules as commands in a sandbox. */
export type WebDial = (
  target: { host: string; port: number },
  signal: AbortSignal,
) => Promise<{ kind: "connected"; socket: Socket } | { kind: "denied" | "failed"; reason: string }>;

export async function openWebDial(allowed: string[], denied: string[]): Promise<WebDial> {
  const [{ openDialer }, { readTarget }, { readRules }, { resolveName }] = await Promise.all([
    import("./dial.ts"),
    import("./hosts.ts"),
    import("./rules.ts"),
    import("../names/index.ts"),
  ]);
  const dial = openDialer(readRules(allowed, denied), async (name, signal) =>
    (await resolveName(name, signal)).map((address) => ({ address })),
  );
  return async ({ host, port }, signal) => {
    const target = readTarget(`${host}:${port}`);
    if (!target)
      return { kind: "denied", reason: `${host}:${port} is not a host name or address that can be checked.` };
    const result = await dial(target, signal);
    return result.kind === "denied" ? { kind: "denied", reason: result.denial.reason } : result;
  };
}

/** The end inside the sandbox; settles when clients can connect. The descriptors are those of listeners in the place of hosts. */
export const openBridge = async (descriptors?: number[]): Promise<void> =>
  (await import("./bridge.ts")).openBridge(descriptors);

/** Many connections over one stream. */
export const openMultiplexer = async (options: MultiplexerOptions): Promise<Multiplexer> =>
  (await import("./multiplexer.ts")).openMultiplexer(options);
