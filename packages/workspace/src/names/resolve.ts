// Resolves names without a thread for each. The system's own function blocks one of the few threads of a process until the
// name server answers: two names whose server is silent would stop every other lookup of a server.
import { lookup, Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIPv4, isIPv6 } from "node:net";
import { candidatesOf, hasOtherSource, hostsIn } from "./files.ts";
import { queryServers } from "./query.ts";
import { openSystemLookup } from "./system-lookup.ts";

const limitMs = 10_000;
/** Of the first query; c-ares doubles it for the second. */
const queryTimeoutMs = 2_500;
const maxQueries = 2;

const systemLookup = openSystemLookup();

/**
 * Every address, IPv4 first. Rejects if there is none. On Linux from /etc/hosts and the servers of /etc/resolv.conf, then
 * from what else /etc/nsswitch.conf lists.
 */
export async function resolveName(name: string, signal?: AbortSignal): Promise<string[]> {
  if (process.platform !== "linux") return (await lookup(name, { all: true })).map(({ address }) => address);
  const listed = hostsIn(await textOf("/etc/hosts"), name);
  if (listed.length > 0) return sorted(listed);
  const over = new AbortController();
  const limit = setTimeout(() => over.abort(new DOMException("no answer", "TimeoutError")), limitMs);
  const stop = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  try {
    return await resolveBySources(name, stop);
  } finally {
    clearTimeout(limit);
  }
}

async function resolveBySources(name: string, stop: AbortSignal): Promise<string[]> {
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: maxQueries });
  const candidates = candidatesOf(name, await textOf("/etc/resolv.conf"));
  try {
    return await queryServers(resolver, { name, candidates }, stop);
  } catch (error) {
    const isUnknown = ["ENOTFOUND", "ENODATA"].includes((error as NodeJS.ErrnoException).code ?? "");
    if (stop.aborted || !isUnknown || !hasOtherSource(await textOf("/etc/nsswitch.conf"), name)) throw error;
    // What the servers answered says more than why the others know nothing either.
    return await systemLookup(name, stop).catch(() => Promise.reject(error));
  }
}

const sorted = (addresses: string[]): string[] => [...addresses.filter(isIPv4), ...addresses.filter(isIPv6)];

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
