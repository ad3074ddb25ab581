// One connection of many that share a stream: a duplex whose unread bytes are bounded on both sides.
import { Duplex } from "node:stream";

/** How much one side may send before the other has read it. */
export const windowBytes = 256 * 1024;
/** Small, so that connections take turns. */
export const largestPayload = 16 * 1024;

/** What a channel sends through the shared stream. */
export interface ChannelWire {
  data(bytes: Buffer): void;
  end(): void;
  reset(): void;
  credit(bytes: number): void;
  /** Nothing will be sent or taken any more. */
  gone(): void;
}

export interface Channel {
  duplex: Duplex;
  /** Each returns whether the other side kept to the rules. */
  onData(bytes: Buffer): boolean;
  onEnd(): boolean;
  onCredit(bytes: number): boolean;
}

interface Pending {
  bytes: Buffer;
  done: () => void;
}

// Longer than others because both directions of one connection share the state of its end.
export function openChannel(wire: ChannelWire): Channel {
  let sendCredit = windowBytes;
  let pending: Pending | undefined;
  let room = windowBytes;
  let hasEnded = false;
  let otherHasEnded = false;

  function pump(): void {
    while (pending !== undefined && sendCredit > 0) {
      const part = pending.bytes.subarray(0, Math.min(sendCredit, largestPayload));
      sendCredit -= part.length;
      if (part.length > 0) wire.data(part);
      const { bytes, done } = pending;
      pending = part.length < bytes.length ? { bytes: bytes.subarray(part.length), done } : undefined;
      if (pending === undefined) done();
    }
  }

  const duplex = new Duplex({
    allowHalfOpen: true,
    read() {
      const freed = windowBytes - room - duplex.readableLength;
      if (freed <= 0 || otherHasEnded) return;
      room += freed;
      wire.credit(freed);
    },
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
      wire.gone();
      done(error);
    },
  });

  return {
    duplex,
    onData(bytes) {
      room -= bytes.length;
      if (room < 0 || otherHasEnded) return false;
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
