// Serves lookups by UDP and TCP. However many come, few are under way at once: some wait, and the others get no answer, so that
// programs ask again.
import type { Socket as DatagramSocket } from "node:dgram";
import type { Socket } from "node:net";
import { type Answer, type Query, readQuery, writeAnswer } from "./messages.ts";

/** How a query came, so that its process can be found. */
export type LookupClient = { kind: "datagram"; port: number } | { kind: "connection"; socket: Socket };

export type Resolve = (query: Query, client: LookupClient) => Promise<Answer>;

export interface NameServer {
  listen(socket: DatagramSocket): void;
  serve(connection: Socket): void;
}

const maxUnderWay = 64;
const maxWaiting = 1024;
const maxConnections = 32;
const idleMs = 10_000;
const maxMessageBytes = 1024;

export function openNameServer(resolve: Resolve): NameServer {
  const takeTurn = openTurns();
  let connections = 0;

  async function answer(bytes: Buffer, client: LookupClient): Promise<Buffer | undefined> {
    const reading = readQuery(bytes);
    if (reading.kind === "ignored") return undefined;
    if (reading.kind === "invalid") return reading.answer;
    const done = await takeTurn();
    if (done === undefined) return undefined;
    const { query } = reading;
    // The client hears of it: a lookup that fails must not end the server, and with it the machine.
    const failed = (): Answer => ({ kind: "failed" });
    return writeAnswer(query, await resolve(query, client).catch(failed).finally(done));
  }

  return {
    listen(socket) {
      socket.on("message", (bytes, { address, port }) => {
        // No program can be asked from there, and Node throws.
        if (port === 0) return;
        // Without an answer the client asks again.
        const send = (reply: Buffer | undefined) => reply && socket.send(reply, port, address, () => {});
        void answer(bytes, { kind: "datagram", port }).then(send);
      });
      socket.on("error", () => {});
    },
    serve(connection) {
      connection.on("error", () => {});
      if (connections >= maxConnections) return void connection.destroy();
      connections += 1;
      connection.once("close", () => {
        connections -= 1;
      });
      connection.setTimeout(idleMs, () => void connection.destroy());
      const client = { kind: "connection", socket: connection } as const;
      answerInTurn(connection, (bytes) => answer(bytes, client)).catch(() => connection.destroy());
    },
  };
}

/** Undefined: too many wait. */
function openTurns(): () => Promise<(() => void) | undefined> {
  const waiting: (() => void)[] = [];
  let underWay = 0;
  const done = () => {
    const next = waiting.shift();
    if (next) next();
    else underWay -= 1;
  };
  return async () => {
    if (underWay >= maxUnderWay) {
      if (waiting.length >= maxWaiting) return undefined;
      await new Promise<void>((resolve) => waiting.push(resolve));
    } else underWay += 1;
    return done;
  };
}

/** Each message has its length in front. A client that does not read its answers is not read either, until it times out. */
async function answerInTurn(connection: Socket, answer: (bytes: Buffer) => Promise<Buffer | undefined>): Promise<void> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const data of connection) {
    rest = Buffer.concat([rest, data as Buffer]);
    while (rest.length >= 2 && rest.length >= 2 + rest.readUInt16BE(0)) {
      const end = 2 + rest.readUInt16BE(0);
      const reply = await answer(rest.subarray(2, end));
      rest = rest.subarray(end);
      if (reply !== undefined && !connection.write(Buffer.concat([lengthOf(reply), reply]))) await drained(connection);
    }
    if (rest.length > maxMessageBytes) return void connection.destroy();
  }
  connection.end();
}

/** Also settles when the connection is gone. */
const drained = (connection: Socket): Promise<void> =>
  new Promise((settle) => {
    const go = () => {
      connection.off("drain", go).off("close", go);
      settle();
    };
    connection.on("drain", go).on("close", go);
    if (connection.destroyed) go();
  });

function lengthOf(message: Buffer): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(message.length);
  return bytes;
}
