// One client on the standard streams, one JSON object per line. The end of its input ends the server.
import type { Readable } from "node:stream";
import { idAtTheStart, refusalText } from "../dispatch/envelope.ts";
import type { Link } from "../dispatch/outbox.ts";
import { invalidParams } from "../method.ts";
import type { Program } from "../program.ts";
import type { AppServer } from "../server.ts";
import { within } from "../waiting.ts";
import { openLineReader } from "./lines.ts";

export const maxMessageBytes = 64 * 1024 * 1024;
/** How long pending requests may take after the client has ended its input. */
const drainMs = 1000;

/** Settles when the client has ended its input and its requests are answered, or the program is stopped. */
export async function serveStdio(
  server: AppServer,
  input: Readable,
  { print, reporter, signal }: Program,
): Promise<void> {
  const link: Link = {
    send: (text, taken) => void print(`${text}\n`).then(taken, taken),
    close: () => {},
    whenFull: "wait",
  };
  const connection = server.connect(link);
  const lines = openLineReader(maxMessageBytes, {
    line: connection.receive,
    tooLong(head) {
      const id = idAtTheStart(head);
      if (id === undefined) reporter.log(`A message was ignored: it has more than ${maxMessageBytes} bytes.`);
      else link.send(refusalText(id, invalidParams(`The message has more than ${maxMessageBytes} bytes.`)), () => {});
    },
  });
  await readToEnd(input, signal, (bytes) => {
    lines.push(bytes);
    if (connection.hasRoom()) return;
    // Unread answers must not pile up: the client has to read before it can send more.
    input.pause();
    void connection.room().then(() => input.resume());
  });
  lines.end();
  if (!signal.aborted) await within(drainMs, connection.drain());
}

function readToEnd(input: Readable, signal: AbortSignal, take: (bytes: Buffer) => void): Promise<void> {
  return new Promise((resolve) => {
    const finish = () => {
      input.destroy();
      resolve();
    };
    input.on("data", take);
    // A closed terminal or a broken pipe is an end of input like any other.
    input.on("error", finish);
    input.on("end", finish);
    if (signal.aborted) finish();
    signal.addEventListener("abort", finish, { once: true });
  });
}
