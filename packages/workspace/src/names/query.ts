// Asks the name servers for a name as it is written and in the domains of search, until the caller stops it.
import type { Resolver } from "node:dns/promises";

export interface NameQuery {
  /** As it is written: errors are about this one. */
  name: string;
  /** The names to ask for, in this order. */
  candidates: string[];
}

/** The addresses of the first name that has any. */
export async function queryServers(
  resolver: Resolver,
  { name, candidates }: NameQuery,
  stop: AbortSignal,
): Promise<string[]> {
  // Ends the queries that are under way, and no others.
  const cancel = () => resolver.cancel();
  stop.addEventListener("abort", cancel);
  let code: string | undefined;
  try {
    for (const candidate of candidates) {
      if (stop.aborted) break;
      const answers = await Promise.allSettled([resolver.resolve4(candidate), resolver.resolve6(candidate)]);
      const addresses = answers.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
      if (addresses.length > 0) return addresses;
      if (candidate === name && !stop.aborted) code = codeOf(answers);
    }
  } finally {
    stop.removeEventListener("abort", cancel);
  }
  throw nameError(name, code ?? stoppedCode(stop));
}

/** Another reason says more than that there are no addresses of one family. */
function codeOf(answers: PromiseSettledResult<unknown>[]): string {
  const codes = answers.flatMap((answer) => (answer.status === "rejected" ? [String(answer.reason.code)] : []));
  return codes.find((one) => one !== "ENODATA") ?? "ENODATA";
}

const nameError = (name: string, code: string): Error => Object.assign(new Error(`${code} ${name}`), { code });

const stoppedCode = ({ reason }: AbortSignal): string =>
  reason instanceof DOMException && reason.name === "TimeoutError" ? "ETIMEOUT" : "ECANCELLED";
