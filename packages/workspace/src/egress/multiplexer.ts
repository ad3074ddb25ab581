// Many connections over one stream. Whatever the other side sends, memory stays bounded and nobody else is disturbed.
import type { Duplex } from "node:stream";
import { type Channel, largestPayload, openChannel } from "./channel.ts";
import { type Frame, frameReader, writeFrame } from "./frames.ts";

export interface MultiplexerOptions {
  stream: Duplex;
  /** Takes what the other side opens; without it the other side may not open anything. */
  onChannel?(kind: number, channel: Duplex): void;
}

export interface Multiplexer {
  /** A new connection; one that the other side refuses is closed at once. */
  open(kind: number): Duplex;
}

const mostChannels = 512;
/** One that sends without reading what comes back is cut off at this much. */
const mostUnsentBytes = 256 * 1024 * 1024;

// Over 60 lines because both ends of the stream work on one table of channels that nobody else may touch.
export function openMultiplexer({ stream, onChannel }: MultiplexerOptions): Multiplexer {
  const channels = new Map<number, Channel>();
  let lastOpened = 0;

  function send(type: Frame["type"], channel: number, payload: Buffer = Buffer.alloc(0)): void {
    if (stream.destroyed) return;
    stream.write(writeFrame({ type, channel, payload }));
    if (stream.writableLength > mostUnsentBytes) stream.destroy();
  }

  function add(id: number): Duplex {
    const channel = openChannel({
      data: (bytes) => send("data", id, bytes),
      end: () => send("end", id),
      reset: () => send("reset", id),
      credit: (bytes) => send("credit", id, numberPayload(bytes)),
      gone: () => void channels.delete(id),
    });
    channels.set(id, channel);
    return channel.duplex;
  }

  /** Returns whether it kept to the rules. What concerns a channel that is gone was sent before the other side knew. */
  function receive({ type, channel: id, payload }: Frame): boolean {
    if (type === "open") return accept(id, payload);
    const channel = channels.get(id);
    if (channel === undefined) return true;
    switch (type) {
      case "data":
        return channel.onData(payload);
      case "end":
        return channel.onEnd();
      case "credit":
        return payload.length === 4 && channel.onCredit(payload.readUInt32BE());
      case "reset":
        channels.delete(id);
        channel.duplex.destroy();
        return true;
    }
  }

  function accept(id: number, payload: Buffer): boolean {
    const kind = payload[0];
    if (onChannel === undefined || kind === undefined || channels.has(id)) return false;
    if (channels.size >= mostChannels) send("reset", id);
    else onChannel(kind, add(id));
    return true;
  }

  function end(): void {
    stream.destroy();
    for (const { duplex } of channels.values()) duplex.destroy();
  }

  const read = frameReader(largestPayload);
  stream.on("data", (data: Buffer) => {
    const frames = read(data);
    if (frames === undefined || !frames.every(receive)) end();
  });
  // The end of the stream is the end of all connections, whatever it was.
  stream.on("error", end);
  stream.on("end", end);
  stream.on("close", end);

  return {
    open(kind) {
      lastOpened = (lastOpened + 1) % 2 ** 32;
      const duplex = add(lastOpened);
      send("open", lastOpened, Buffer.of(kind));
      if (stream.destroyed) duplex.destroy();
      return duplex;
    },
  };
}

function numberPayload(value: number): Buffer {
  const payload = Buffer.alloc(4);
  payload.writeUInt32BE(value);
  return payload;
}
