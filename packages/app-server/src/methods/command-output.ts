// The output of a command: streamed or collected for the answer, each stream up to its cap, at the pace of the client.
import type { Chunk } from "@agentcli/protocol";
import type { Client } from "../method.ts";

export interface CommandOutput {
  take(chunk: Chunk): void;
  /** Empty where it was streamed. */
  kept(): { stdout: string; stderr: string };
}

export interface OutputOptions {
  /** The process id it is streamed under; null keeps it for the answer. */
  streamAs: string | null;
  capBytes: number;
  client: Client;
  /** The command waits while its client has enough to read. */
  hold(): void;
  resume(): void;
}

/** Sent before checking whether the client reads. */
const paceBytes = 256 * 1024;

export function openCommandOutput({ streamAs, capBytes, client, hold, resume }: OutputOptions): CommandOutput {
  const streams = { stdout: openStream(capBytes), stderr: openStream(capBytes) };
  let unread = 0;

  function send(processId: string, stream: "stdout" | "stderr", taken: Taken): void {
    const deltaBase64 = taken.bytes.toString("base64");
    client.notify("command/exec/outputDelta", { processId, stream, deltaBase64, capReached: taken.capReached });
    unread += deltaBase64.length;
    if (unread < paceBytes) return;
    unread = 0;
    hold();
    void client.room().then(resume);
  }

  return {
    take({ stream: origin, text }) {
      const stream = origin === "stderr" ? "stderr" : "stdout";
      const taken = streams[stream].take(Buffer.from(text));
      if (!taken) return;
      if (streamAs === null) streams[stream].kept.push(taken.bytes);
      else send(streamAs, stream, taken);
    },
    kept: () => ({ stdout: textOf(streams.stdout.kept), stderr: textOf(streams.stderr.kept) }),
  };
}

interface Taken {
  bytes: Buffer;
  /** Nothing of this stream comes after it. */
  capReached: boolean;
}

function openStream(capBytes: number) {
  let left = capBytes;
  let isOver = false;
  return {
    kept: [] as Buffer[],
    take(bytes: Buffer): Taken | null {
      if (isOver) return null;
      isOver = bytes.length > left;
      const taken = isOver ? wholeCharacters(bytes, left) : bytes;
      left -= taken.length;
      return { bytes: taken, capReached: isOver };
    },
  };
}

/** At most so many bytes, none of them half a character. */
function wholeCharacters(bytes: Buffer, most: number): Buffer {
  let end = most;
  while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1;
  return bytes.subarray(0, end);
}

const textOf = (kept: Buffer[]): string => Buffer.concat(kept).toString("utf8");
