// The address the server listens on, from `--listen`.
import { isIP } from "node:net";
import { join } from "node:path";
import { CommandError } from "@agentcli/command-line";

export type Address =
  | { kind: "stdio" }
  | { kind: "tcp"; host: string; port: number }
  | { kind: "unix"; path: string }
  | { kind: "off" };

/** The maximum length of a socket path on this system. */
const maxPathBytes = 107;

export function parseAddress(text: string, agentHome: string): Address {
  if (text === "stdio://" || text === "stdio") return { kind: "stdio" };
  if (text === "off") return { kind: "off" };
  if (text.startsWith("unix://")) return unixAddress(text.slice("unix://".length), agentHome);
  const [, host = "", port = ""] = /^ws:\/\/(\[[^\]]+\]|[^:/]+):(\d+)\/?$/.exec(text) ?? [];
  const ip = host.replace(/^\[|\]$/g, "");
  if (isIP(ip) === 0 || Number(port) > 65_535)
    throw new CommandError(
      "usage",
      `--listen ${text} is not a valid address. Use stdio://, ws://IP:PORT (no host name, port up to 65535), unix://[PATH] or off.`,
    );
  return { kind: "tcp", host: ip, port: Number(port) };
}

function unixAddress(given: string, agentHome: string): Address {
  const path = given || join(agentHome, "app-server-control", "app-server-control.sock");
  if (!path.startsWith("/")) throw new CommandError("usage", `--listen unix://${given}: the path must be absolute.`);
  if (Buffer.byteLength(path) > maxPathBytes)
    throw new CommandError(
      "usage",
      `--listen unix://${path}: a socket path can have at most ${maxPathBytes} bytes; choose a shorter one.`,
    );
  return { kind: "unix", path };
}

export const isLoopback = (host: string): boolean =>
  /^127\./.test(host) || host === "::1" || /^::ffff:127\./i.test(host);
