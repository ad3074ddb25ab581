// Where the management endpoint listens, as the operator gives it.
import { CommandError } from "@agentcli/command-line";

export interface ListenAddress {
  host: string;
  port: number;
}

/** HOST:PORT, or :PORT or PORT on loopback. */
export function readAddress(text: string): ListenAddress {
  const [, host = "", port = ""] = /^(?:\[?([^\]]*?)\]?:)?(\d{1,5})$/.exec(text) ?? [];
  if (port === "" || Number(port) > 65_535)
    throw new CommandError("usage", `Invalid --management-addr "${text}": expected HOST:PORT, such as 127.0.0.1:8080.`);
  return { host: host || "127.0.0.1", port: Number(port) };
}
