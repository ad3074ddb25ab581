// Parses the two messages of a SOCKS5 client. Pure.
import { readHost, type Target } from "./hosts.ts";

export type SocksReading<Message> =
  | { kind: "whole"; message: Message; length: number }
  /** More bytes are needed. */
  | { kind: "part" }
  | { kind: "bad" };

export type SocksRequest = { kind: "connect"; target: Target } | { kind: "not-connect" } | { kind: "no-host" };

const version = 5;
const connectCommand = 1;
const addressTypes = { ipv4: 1, name: 3, ipv6: 4 };

/** The authentication methods on offer. */
export function readGreeting(bytes: Buffer): SocksReading<number[]> {
  const [first, count] = bytes;
  if (first !== undefined && first !== version) return { kind: "bad" };
  if (count === undefined) return { kind: "part" };
  if (count === 0) return { kind: "bad" };
  if (bytes.length < 2 + count) return { kind: "part" };
  return { kind: "whole", message: [...bytes.subarray(2, 2 + count)], length: 2 + count };
}

export function readRequest(bytes: Buffer): SocksReading<SocksRequest> {
  const [first, command, reserved, type] = bytes;
  if (first !== undefined && first !== version) return { kind: "bad" };
  if (reserved !== undefined && reserved !== 0) return { kind: "bad" };
  const size = addressSize(type, bytes[4]);
  if (size === "unknown") return { kind: "bad" };
  if (size === undefined || bytes.length < 4 + size + 2) return { kind: "part" };
  const host = readHost(addressText(type, bytes.subarray(4, 4 + size)));
  const port = bytes.readUInt16BE(4 + size);
  const length = 4 + size + 2;
  if (command !== connectCommand) return { kind: "whole", message: { kind: "not-connect" }, length };
  if (host === undefined || port === 0) return { kind: "whole", message: { kind: "no-host" }, length };
  return { kind: "whole", message: { kind: "connect", target: { host, port } }, length };
}

/** Undefined until enough is known. */
function addressSize(type: number | undefined, nameLength: number | undefined): number | "unknown" | undefined {
  if (type === addressTypes.ipv4) return 4;
  if (type === addressTypes.ipv6) return 16;
  if (type === addressTypes.name) return nameLength === undefined ? undefined : 1 + nameLength;
  return type === undefined ? undefined : "unknown";
}

function addressText(type: number | undefined, bytes: Buffer): string {
  if (type === addressTypes.ipv4) return bytes.join(".");
  if (type === addressTypes.name) return bytes.subarray(1).toString("latin1");
  return Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16)).join(":");
}
