// Requests for a WebSocket: those with a path of their own are taken over, all others are answered as requests.
import { type IncomingMessage, type Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { answerError } from "./answers.ts";
import { ApiError } from "./api-error.ts";
import type { AcceptSocket } from "./route.ts";

export function acceptSockets(server: Server, sockets: Map<string, AcceptSocket>): void {
  server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    stream.on("error", () => stream.destroy());
    const accept = sockets.get((request.url ?? "").split("?")[0] ?? "");
    if (accept === undefined || request.headers.upgrade?.toLowerCase() !== "websocket")
      return answerAsRequest(server, request, stream as Socket);
    accept(request, stream, head).catch((error: unknown) => refuseSocket(stream, error));
  });
}

/** Clients offer other protocols too, such as h2c; a server need not take them. A body was not read, so none can be sent. */
function answerAsRequest(server: Server, request: IncomingMessage, socket: Socket): void {
  const response = new ServerResponse(request);
  response.shouldKeepAlive = false;
  response.assignSocket(socket);
  response.on("finish", () => socket.end());
  server.emit("request", request, response);
}

/** With the error as the API answers it. */
export async function refuseSocket(stream: Duplex, error: unknown): Promise<void> {
  const problem = error instanceof ApiError ? error : new ApiError("internal", "Internal error. Try again.");
  const answer = answerError(problem);
  const body = await answer.text();
  stream.end(
    `HTTP/1.1 ${answer.status} Refused\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n${body}`,
  );
}
