// Dials the addresses that were checked: no resolver is asked again.
import { isIPv6, type LookupFunction } from "node:net";
import type { LookupFor } from "@agentcli/mcp";
import { readHost } from "@agentcli/workspace/hosts";
import { type NetworkPolicy, privateAddressReason } from "./policy.ts";

export const checkedAddresses =
  (addresses: string[]): LookupFunction =>
  (_name, options, answer) => {
    const found = addresses.map((address) => ({ address, family: isIPv6(address) ? 6 : 4 }));
    // Like a resolver, never at once: an address without a route would fail before the caller listens for errors.
    setImmediate(() => {
      const [first] = found;
      if (first === undefined) answer(new Error("there is no address"), "", 4);
      else if (options.all) answer(null, found);
      else answer(null, first.address, first.family);
    });
  };

/** For calls of MCP servers: the address is checked for each request. */
export const checkedLookup =
  (network: NetworkPolicy): LookupFor =>
  async ({ hostname, origin }, signal) => {
    const host = readHost(hostname.replace(/^\[|\]$/g, ""));
    if (!host) throw new Error(`${origin} is not a valid address`);
    const resolved = await network.resolve(host, signal);
    if (resolved.kind === "unknown") throw new Error(resolved.reason);
    if (resolved.kind === "private") throw new Error(privateAddressReason(origin));
    return checkedAddresses(resolved.addresses);
  };
