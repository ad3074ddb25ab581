// A receiver of webhooks on this machine: a real server that keeps what it was sent, and answers as a test wants.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { eventually } from "@agentcli/testkit";

export interface Received {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface Receiver {
  url: string;
  received: Received[];
  /** From now on. */
  answer(how: (response: ServerResponse) => void): void;
  /** Resolves once that many have arrived. */
  arrived(count: number): Promise<Received[]>;
  close(): Promise<void>;
}

export const status =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end();

/** `port` 0 takes a free one. */
export async function openReceiver(port = 0): Promise<Receiver> {
  const received: Received[] = [];
  let how: (response: ServerResponse) => void = status(200);
  const listener: RequestListener = async (request, response) => {
    const body = await buffer(request);
    received.push({ method: request.method, path: request.url, headers: request.headers, body: body.toString() });
    how(response);
  };
  const server = createServer(listener).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer(wanted) {
      how = wanted;
    },
    arrived: (count) =>
      eventually(() => {
        if (received.length < count) throw new Error(`${received.length} of ${count} have arrived`);
        return received;
      }),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, "close");
    },
  };
}
