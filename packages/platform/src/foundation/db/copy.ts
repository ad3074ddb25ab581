// Whole tables out of and into the database, in PostgreSQL's own words for it: COPY, spoken through the driver.
import { once } from "node:events";
import type { Duplex } from "node:stream";
import type pg from "pg";

/** `take` gets the rows as text, in pieces of any size. */
export function copyOut(client: pg.Client, statement: string, take: (piece: Buffer) => void): Promise<void> {
  return exchange(client, statement, {
    // The driver uses the memory of a message again.
    handleCopyData: ({ chunk }) => take(Buffer.from(chunk)),
    handleCopyInResponse: (connection) => connection.sendCopyFail("no rows are given"),
  });
}

/** Gives the rows as copyOut took them. Where the source fails, nothing of it stays, and its error is thrown. */
export async function copyIn(client: pg.Client, statement: string, pieces: AsyncIterable<Buffer>): Promise<void> {
  let cause: unknown = null;
  let isOver = false;
  try {
    await exchange(client, statement, {
      handleCopyData: () => {},
      handleCopyInResponse(connection) {
        feed(connection, pieces, () => isOver).catch((error: Error) => {
          cause = error;
          connection.sendCopyFail(error.message);
        });
      },
    });
  } catch (error) {
    throw cause ?? error;
  } finally {
    isOver = true;
  }
}

async function feed(connection: CopyConnection, pieces: AsyncIterable<Buffer>, isOver: () => boolean): Promise<void> {
  for await (const piece of pieces) {
    if (isOver()) return;
    connection.sendCopyFromChunk(piece);
    if (connection.stream.writableNeedDrain) await once(connection.stream, "drain");
  }
  connection.endCopyFrom();
}

/** What the driver's connection can do beyond its declared type. */
interface CopyConnection {
  query(statement: string): void;
  sendCopyFromChunk(piece: Buffer): void;
  endCopyFrom(): void;
  sendCopyFail(reason: string): void;
  stream: Duplex;
}

interface CopyListener {
  handleCopyData(message: { chunk: Buffer }): void;
  handleCopyInResponse(connection: CopyConnection): void;
}

function exchange(client: pg.Client, statement: string, listener: CopyListener): Promise<void> {
  return new Promise((resolve, reject) => {
    const query = {
      ...listener,
      submit: (connection: unknown) => (connection as CopyConnection).query(statement),
      handleRowDescription() {},
      handleDataRow() {},
      handleCommandComplete() {},
      // The driver forgets a query that failed: nothing else will be reported to it.
      handleError: reject,
      handleReadyForQuery: () => resolve(),
    };
    client.query(query);
  });
}
