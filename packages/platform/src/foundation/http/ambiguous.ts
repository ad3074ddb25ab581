// Requests that a proxy in front may have read otherwise than this server: it would have allowed another host or path.
import type { IncomingMessage } from "node:http";

/** What is ambiguous in it; null if nothing is. */
export function ambiguityOf({ rawHeaders, headers, url = "" }: IncomingMessage): string | null {
  const hosts = rawHeaders.filter((name, at) => at % 2 === 0 && name.toLowerCase() === "host").length;
  // Node takes the first; others take the last.
  if (hosts > 1) return "The request has more than one Host header.";
  if (url.startsWith("/")) return null;
  const target = /^https?:\/\//i.test(url) ? hostOf(url) : null;
  if (target === null) return "The target of the request is not a path.";
  const named = hostOf(`http://${headers.host ?? ""}`);
  return named === target ? null : "The target of the request has another host than its Host header.";
}

const hostOf = (url: string): string | null => (URL.canParse(url) ? new URL(url).host : null);
