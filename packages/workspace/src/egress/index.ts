// The proxy to allowed domains: its end inside the sandbox, its end on the host. Loaded when used.
import type { EgressOptions, EgressProxy } from "./proxy.ts";
import type { EgressRules } from "./rules.ts";

export { isOwn } from "./addresses.ts";
export type { Denial } from "./dial.ts";
export type { EgressProxy } from "./proxy.ts";

export const openEgressProxy = async (options: EgressOptions): Promise<EgressProxy> =>
  (await import("./proxy.ts")).openEgressProxy(options);

/** Throws InvalidDomainRule for an entry that is not a domain or an address. */
export const readRules = async (allowed: string[], denied: string[]): Promise<EgressRules> =>
  (await import("./rules.ts")).readRules(allowed, denied);

/** The end inside the sandbox; settles when clients can connect. */
export const openBridge = async (): Promise<void> => (await import("./bridge.ts")).openBridge();
