// One client on the standard streams, a JSON object a line. The end of its input ends the server.
import type { Readable } from "node:stream";
import type { Program } from "../../program.ts";
import { idAtTheStart, refusalText } from "../envelope.ts";
import { invalidParams } from "../method.ts";
import type { Link } from "../outbox.ts";
import type { AppServer } from "../server.ts";
import { within } from "../waiting.ts";
import { openLineReader } from "./lines.ts";

export const mostMessageBytes = 64 * 1024 * 1024;
/** How long what was asked may still take when the client has ended its input. */
const drainMs = 1000;

/** Settles when the client has ended its input and what it asked is answered, or the program is told to stop. */
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
  const lines = openLineReader(mostMessageBytes, {
    line: connection.receive,
    tooLong(head) {
      const id = idAtTheStart(head);
      if (id === undefined) reporter.say(`A message was ignored: it has more than ${mostMessageBytes} bytes.`);
      else link.send(refusalText(id, invalidParams(`The message has more than ${mostMessageBytes} bytes.`)), () => {});
    },
  });
  await readToEnd(input, signal, (bytes) => {
    lines.push(bytes);
    if (connection.hasRoom()) return;
    // Answers nobody reads must not pile up: whoever asks on has to read first.
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
    // A terminal that went away or a pipe that broke is an end like any other.
    input.on("error", finish);
    input.on("end", finish);
    if (signal.aborted) finish();
    signal.addEventListener("abort", finish, { once: true });
  });
}
