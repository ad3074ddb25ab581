// Requests that a client sends before it has the answer to an earlier one of its connection are served one after another.
import { type IncomingMessage, type RequestListener, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";

/** A client that sends more before it reads an answer is cut off: each costs memory. */
const maxWaiting = 100;

/**
 * Served at once, they would outlive their connection: when it is closed, Node closes the response that was being sent,
 * and those that wait behind it never.
 */
export function inTurn(serve: RequestListener): RequestListener {
  const waiting = new WeakMap<Duplex, number>();
  return (request, response) => {
    if (response.socket !== null) return serve(request, response);
    const { socket } = request;
    const count = (waiting.get(socket) ?? 0) + 1;
    if (count > maxWaiting) return void socket.destroy();
    waiting.set(socket, count);
    response.once("socket", () => {
      waiting.set(socket, (waiting.get(socket) ?? 1) - 1);
      serve(request, response);
    });
  };
}

/** Whether the answer to an earlier request is still under way. Then nothing else may be written to the connection. */
export function isAnswering(connection: Duplex, request: IncomingMessage): boolean {
  const response = new ServerResponse(request);
  try {
    response.assignSocket(connection as Socket);
  } catch {
    return true;
  }
  response.detachSocket(connection as Socket);
  return false;
}
