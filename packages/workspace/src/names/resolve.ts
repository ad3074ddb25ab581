// Resolves names without a thread for each. The system's own function blocks one of the few threads of a process until the
// name server answers: two names whose server is silent would stop every other lookup of a server.
import { lookup, Resolver } from "node:dns/promises";
import { readFile } from "node:fs/promises";
import { isIPv4, isIPv6 } from "node:net";
import { candidatesOf, hostsIn } from "./files.ts";

const limitMs = 10_000;
/** Of the first query; c-ares doubles it for the second. */
const queryTimeoutMs = 2_500;
const maxQueries = 2;

/** Every address, IPv4 first. Rejects if there is none. On Linux from /etc/hosts and the servers of /etc/resolv.conf. */
export async function resolveName(name: string): Promise<string[]> {
  if (process.platform !== "linux") return (await lookup(name, { all: true })).map(({ address }) => address);
  const listed = hostsIn(await textOf("/etc/hosts"), name);
  if (listed.length > 0) return sorted(listed);
  const resolver = new Resolver({ timeout: queryTimeoutMs, tries: maxQueries });
  const limit = setTimeout(() => resolver.cancel(), limitMs);
  try {
    return await query(resolver, candidatesOf(name, await textOf("/etc/resolv.conf")));
  } finally {
    clearTimeout(limit);
  }
}

/** The first name that has addresses; what was wrong with the last one otherwise. */
async function query(resolver: Resolver, [name = "", ...others]: string[]): Promise<string[]> {
  const answers = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
  const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
  if (addresses.length > 0) return addresses;
  if (others.length > 0) return query(resolver, others);
  throw failureOf(name, answers);
}

function failureOf(name: string, answers: PromiseSettledResult<unknown>[]): Error {
  const codes = answers.flatMap((answer) => (answer.status === "rejected" ? [String(answer.reason.code)] : []));
  // Another reason says more than that there are no addresses of one family.
  const code = codes.find((one) => one !== "ENODATA") ?? "ENODATA";
  return Object.assign(new Error(`${code} ${name}`), { code });
}

const sorted = (addresses: string[]): string[] => [...addresses.filter(isIPv4), ...addresses.filter(isIPv6)];

const textOf = (path: string): Promise<string> => readFile(path, "utf8").catch(() => "");
