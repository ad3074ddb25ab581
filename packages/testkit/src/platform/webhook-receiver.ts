// A receiver of webhooks on loopback: it logs deliveries and responds as the test decides.
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { buffer } from "node:stream/consumers";
import { eventually } from "@agentcli/testkit";

export interface ReceivedWebhook {
  method: string | undefined;
  path: string | undefined;
  headers: IncomingHttpHeaders;
  body: string;
}

export interface WebhookReceiver {
  url: string;
  received: ReceivedWebhook[];
  /** From now on. */
  respondWith(responder: (response: ServerResponse) => void): void;
  /** Resolves once that many have arrived. */
  waitFor(count: number): Promise<ReceivedWebhook[]>;
  close(): Promise<void>;
}

export const respondStatus =
  (code: number, headers: Record<string, string> = {}) =>
  (response: ServerResponse): void =>
    void response.writeHead(code, headers).end();

/** `port` 0 takes a free one. */
export async function startWebhookReceiver(port = 0): Promise<WebhookReceiver> {
  const received: ReceivedWebhook[] = [];
  let respond: (response: ServerResponse) => void = respondStatus(200);
  const listener: RequestListener = async (request, response) => {
    const body = await buffer(request);
    received.push({ method: request.method, path: request.url, headers: request.headers, body: body.toString() });
    respond(response);
  };
  const server = createServer(listener).listen(port, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    respondWith(responder) {
      respond = responder;
    },
    waitFor: (count) =>
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
