// What both ends of the bridge know: where it enters the sandbox, where clients find it, and what they are told.
export type ChannelKind = "http" | "socks";

/** The descriptor the server inside finds the bridge on. */
export const bridgeDescriptor = 4;

/** Inside a sandbox loopback is its own, so these are always free. */
export const bridgePorts: Record<ChannelKind, number> = { http: 3128, socks: 8081 };

const kinds: ChannelKind[] = ["http", "socks"];
export const numberOf = (kind: ChannelKind): number => kinds.indexOf(kind);
export const kindOf = (number: number): ChannelKind | undefined => kinds[number];

/** What tools find in their environment. ALL_PROXY is HTTP too: many clients fail at a SOCKS address they cannot use. */
export function proxyVariables(): Record<string, string> {
  const proxy = `http://127.0.0.1:${bridgePorts.http}`;
  const upper = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: "localhost,127.0.0.1,::1" };
  const lower = Object.entries(upper).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...upper, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: "1" };
}
