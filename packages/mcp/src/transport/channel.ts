// Carries JSON-RPC messages to a server and back: over a process's standard streams, or HTTP.
import type { Json, JsonObject } from "../json.ts";

export interface ChannelEvents {
  /** One message, or several in an array. Unchecked JSON. */
  message(value: Json): void;
  /** No more messages will come, for this reason. Called once, and not after `close`. */
  lost(reason: string): void;
}

export interface Channel {
  /**
   * Settles when the message was delivered. Rejects with a message for people when it was not, or when its response can no
   * longer come. On abort it releases whatever it holds for the response.
   */
  send(message: JsonObject, signal: AbortSignal): Promise<void>;
  /** Called once initialization is done. */
  setProtocolVersion(protocolVersion: string): void;
  /** Ends the process or the session. */
  close(): Promise<void>;
}

export type OpenChannel = (events: ChannelEvents) => Promise<Channel>;
