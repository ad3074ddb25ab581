// One of many connections over a shared stream: a duplex whose unread bytes are bounded on both sides.
import { Duplex } from "node:stream";

/** How much a side may send before the other has read it. */
export const windowBytes = 256 * 1024;
/** Small, so that connections share the stream fairly. */
export const maxPayloadBytes = 16 * 1024;

/** What a channel sends through the shared stream. */
export interface ChannelWire {
  data(bytes: Buffer): void;
  end(): void;
  reset(): void;
  credit(bytes: number): void;
  /** Nothing will be sent or received any more. */
  closed(): void;
}

export interface Channel {
  duplex: Duplex;
  /** Each returns false if the other side violated the protocol. */
  onData(bytes: Buffer): boolean;
  onEnd(): boolean;
  onCredit(bytes: number): boolean;
}

interface Pending {
  bytes: Buffer;
  done: () => void;
}

// Over 60 lines because both directions of one connection share the state of its end.
export function openChannel(wire: ChannelWire): Channel {
  let sendCredit = windowBytes;
  let pending: Pending | undefined;
  let receiveWindow = windowBytes;
  let hasEnded = false;
  let otherHasEnded = false;

  function pump(): void {
    while (pending !== undefined && sendCredit > 0) {
      const part = pending.bytes.subarray(0, Math.min(sendCredit, maxPayloadBytes));
      sendCredit -= part.length;
      if (part.length > 0) wire.data(part);
      const { bytes, done } = pending;
      pending = part.length < bytes.length ? { bytes: bytes.subarray(part.length), done } : undefined;
      if (pending === undefined) done();
    }
  }

  /** Lets the other side send as much as has been read here. */
  function grant(): void {
    const freed = windowBytes - receiveWindow - duplex.readableLength;
    if (freed <= 0 || otherHasEnded) return;
    receiveWindow += freed;
    wire.credit(freed);
  }

  const duplex = new Duplex({
    allowHalfOpen: true,
    read: grant,
    write(bytes: Buffer, _encoding, done) {
      pending = { bytes, done };
      pump();
    },
    final(done) {
      hasEnded = true;
      wire.end();
      done();
    },
    destroy(error, done) {
      if (!hasEnded || !otherHasEnded) wire.reset();
      wire.closed();
      done(error);
    },
  });

  // Node asks for more before it takes out what is read, and then waits for data: a full window would never open again.
  const take = duplex.read.bind(duplex);
  duplex.read = (size) => {
    const data: unknown = take(size);
    grant();
    return data;
  };

  return {
    duplex,
    onData(bytes) {
      receiveWindow -= bytes.length;
      if (receiveWindow < 0 || otherHasEnded) return false;
      duplex.push(bytes);
      return true;
    },
    onEnd() {
      if (otherHasEnded) return false;
      otherHasEnded = true;
      duplex.push(null);
      return true;
    },
    onCredit(bytes) {
      sendCredit += bytes;
      if (bytes === 0 || sendCredit > windowBytes) return false;
      pump();
      return true;
    },
  };
}
