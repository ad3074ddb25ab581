// Which process inside the sandbox holds the other end of a connection. Only asked for refusals: it costs a search of /proc inside.
import type { Duplex } from "node:stream";
import { processKind, unroutableKind } from "../wire/index.ts";
import type { Multiplexer } from "./multiplexer.ts";

const answerTimeoutMs = 2_000;
const maxAnswerBytes = 100;

type FindProcess = () => Promise<string | undefined>;

export function openClients() {
  const clients = new WeakMap<Duplex, FindProcess>();
  return {
    add: (connection: Duplex, find: FindProcess) => void clients.set(connection, find),
    /** Undefined where it is not known. The sandbox answers: it is a claim, for people. */
    processOf: async (connection: Duplex): Promise<string | undefined> => clients.get(connection)?.(),
  };
}

/** `client` is its number, as the bridge sent it. */
export const askForProcess = async (multiplexer: Multiplexer, client: Buffer): Promise<string | undefined> =>
  printable(await ask(multiplexer.open(processKind, client))) || undefined;

/** What the bridge says on the channel of a lookup, once it was refused. */
export const readProcess = async (channel: Duplex): Promise<string | undefined> =>
  printable(await receive(channel)) || undefined;

/** How many packets inside had no route so far; 0 if the sandbox is gone. */
export const askForUnroutable = async (multiplexer: Multiplexer): Promise<number> =>
  Number.parseInt(await ask(multiplexer.open(unroutableKind)), 10) || 0;

function ask(channel: Duplex): Promise<string> {
  const answer = receive(channel);
  channel.end();
  return answer.finally(() => channel.destroy());
}

/** Empty if there is none in time. */
function receive(channel: Duplex): Promise<string> {
  let text = "";
  return new Promise<string>((resolve) => {
    const limit = setTimeout(() => resolve(""), answerTimeoutMs);
    channel.on("data", (data: Buffer) => {
      text = (text + data.toString("utf8")).slice(0, maxAnswerBytes);
    });
    channel.on("error", () => {});
    channel.on("close", () => resolve(""));
    channel.on("end", () => resolve(text));
    channel.once("close", () => clearTimeout(limit));
  });
}

const printable = (text: string) => text.replace(/[^\x20-\x7e]/g, "").trim();
