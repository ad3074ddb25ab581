// The address that a server advertises to the others: the configured one, else the one it listens on.
import { hostname } from "node:os";

/** One that listens on all addresses is reached by the name of its machine. */
export function reachableUrl(serverUrl: string, configured: string | null): string {
  if (configured !== null) return configured;
  const { protocol, hostname: host, port } = new URL(serverUrl);
  const isEvery = host === "0.0.0.0" || host === "[::]";
  return `${protocol}//${isEvery ? hostname() : host}${port === "" ? "" : `:${port}`}`;
}
