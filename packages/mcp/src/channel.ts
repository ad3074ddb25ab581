// What carries JSON-RPC messages to a server and back: a process's standard streams, or HTTP.
import type { Json, JsonObject } from "./json.ts";

export interface ChannelEvents {
  /** One message, or several in an array; nothing is known about it but that it is JSON. */
  message(value: Json): void;
  /** No more messages can come, for this reason. Told once, and not after `close`. */
  lost(reason: string): void;
}

export interface Channel {
  /**
   * Settles when the message has been taken. Rejects, with a message for people, when it could not be delivered or when its
   * answer cannot come any more. On abort whatever is held for the answer is let go.
   */
  send(message: JsonObject, signal: AbortSignal): Promise<void>;
  /** Told once both sides have agreed on a version. */
  agreed(protocolVersion: string): void;
  /** Ends whatever was started. */
  close(): Promise<void>;
}

export type OpenChannel = (events: ChannelEvents) => Promise<Channel>;
