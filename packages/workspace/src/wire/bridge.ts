// What both ends of the bridge to the proxy agree on: its descriptor, its ports, and the variables for tools.
export type ChannelKind = "http" | "socks";

/** The file descriptor of the bridge in the sandboxed server. */
export const bridgeDescriptor = 4;

/** A sandbox has its own loopback, so these are always free. */
export const bridgePorts: Record<ChannelKind, number> = { http: 3128, socks: 8081 };

const kinds: ChannelKind[] = ["http", "socks"];
export const numberOf = (kind: ChannelKind): number => kinds.indexOf(kind);
export const kindOf = (number: number): ChannelKind | undefined => kinds[number];

/** The host opens these: a connection to a port inside, which follows in two bytes. */
export const portKind = 2;
/** The host opens these too: which process has the connection from this port of a client, in two bytes. */
export const processKind = 3;
/** And these: how many packets had no route, as decimal digits. */
export const unroutableKind = 4;
/** Of the channels that the host opens. */
export const firstHostChannel = 2 ** 31;

/** ALL_PROXY is HTTP too: many clients fail on a SOCKS address they do not support. */
export function proxyVariables(): Record<string, string> {
  const proxy = `http://127.0.0.1:${bridgePorts.http}`;
  const upper = { HTTP_PROXY: proxy, HTTPS_PROXY: proxy, ALL_PROXY: proxy, NO_PROXY: "localhost,127.0.0.1,::1" };
  const lower = Object.entries(upper).map(([name, value]) => [name.toLowerCase(), value]);
  return { ...upper, ...Object.fromEntries(lower), NODE_USE_ENV_PROXY: "1" };
}
