// Many connections over one stream. Whatever the other side sends, memory stays bounded and other connections are unaffected.
import type { Duplex } from "node:stream";
import { type Channel, maxPayloadBytes, openChannel } from "./channel.ts";
import { type Frame, frameReader, writeFrame } from "./frames.ts";

export interface MultiplexerOptions {
  stream: Duplex;
  /** Called for each connection the other side opens; absent: it may not open any. */
  onChannel?(kind: number, channel: Duplex, detail: Buffer): void;
  /** Channels opened here are numbered from this on; the other side needs other numbers. */
  firstChannel?: number;
}

export interface Multiplexer {
  /** A new connection; closed at once if the other side refuses it. The detail is for its `onChannel`. */
  open(kind: number, detail?: Buffer): Duplex;
}

const maxChannels = 512;
/** A peer that sends but does not read is cut off at this. */
const maxUnsentBytes = 256 * 1024 * 1024;

// Over 60 lines because all of it works on one table of channels.
export function openMultiplexer({ stream, onChannel, firstChannel = 0 }: MultiplexerOptions): Multiplexer {
  const channels = new Map<number, Channel>();
  let lastOpened = 0;

  function send(type: Frame["type"], channel: number, payload: Buffer = Buffer.alloc(0)): void {
    if (stream.destroyed) return;
    stream.write(writeFrame({ type, channel, payload }));
    if (stream.writableLength > maxUnsentBytes) stream.destroy();
  }

  function add(id: number): Duplex {
    const channel = openChannel({
      data: (bytes) => send("data", id, bytes),
      end: () => send("end", id),
      reset: () => send("reset", id),
      credit: (bytes) => send("credit", id, numberPayload(bytes)),
      closed: () => void channels.delete(id),
    });
    channels.set(id, channel);
    return channel.duplex;
  }

  /** Returns false on a protocol violation. Frames of a closed channel were sent before the other side knew. */
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
    if (channels.size >= maxChannels) send("reset", id);
    else onChannel(kind, add(id), payload.subarray(1));
    return true;
  }

  function end(): void {
    stream.destroy();
    for (const { duplex } of channels.values()) duplex.destroy();
  }

  const read = frameReader(maxPayloadBytes);
  stream.on("data", (data: Buffer) => {
    const frames = read(data);
    if (frames === undefined || !frames.every(receive)) end();
  });
  // However the stream ends, all connections end.
  stream.on("error", end);
  stream.on("end", end);
  stream.on("close", end);

  return {
    open(kind, detail = Buffer.alloc(0)) {
      lastOpened = (lastOpened + 1) % 2 ** 31;
      const id = firstChannel + lastOpened;
      const duplex = add(id);
      send("open", id, Buffer.concat([Buffer.of(kind), detail]));
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
