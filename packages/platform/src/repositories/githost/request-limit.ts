// Limits the part of a git request that git keeps in memory: everything of a fetch, the list of references of a push. A
// compressed request of a few megabytes could otherwise fill the memory of the machine.
import { Transform } from "node:stream";

/** The names of 300,000 references; git itself sends far fewer. */
const maxBytes = 32 * 1024 * 1024;

/** `push`: up to the first flush packet, behind which the objects come; git limits their size. */
export function limitRequest(kind: "fetch" | "push"): Transform {
  const endsList = kind === "push" ? openPacketReader() : () => false;
  let bytes = 0;
  let isListOver = false;
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      bytes += chunk.length;
      isListOver ||= endsList(chunk);
      if (isListOver || bytes <= maxBytes) done(null, chunk);
      else done(new Error(`The request has more than ${maxBytes} bytes before its objects.`));
    },
  });
}

const lengthDigits = 4;

/** Returns whether a flush packet was read. Git itself refuses lengths that are not hexadecimal. */
function openPacketReader(): (chunk: Buffer) => boolean {
  let digits = "";
  let left = 0;
  return (chunk) => {
    for (let at = 0; at < chunk.length; ) {
      if (left > 0) {
        const skipped = Math.min(left, chunk.length - at);
        left -= skipped;
        at += skipped;
        continue;
      }
      digits += String.fromCharCode(chunk[at] ?? 0);
      at += 1;
      if (digits.length < lengthDigits) continue;
      if (digits === "0000") return true;
      left = Math.max(0, Number.parseInt(digits, 16) - lengthDigits) || 0;
      digits = "";
    }
    return false;
  };
}
