// Turns in tests of the app server.
import type { AppClient, Body, Message } from "./client.ts";

export const text = (words: string) => [{ type: "text", text: words }];

export const startTurn = (client: AppClient, threadId: string, words: string, more: object = {}): Promise<Body> =>
  client.request("turn/start", { threadId, input: text(words), ...more }).then(({ turn }) => turn);

export const turnEnd = (client: AppClient, turnId: string): Promise<Body> =>
  client
    .waitFor(({ method, params }: Message) => method === "turn/completed" && params.turn.id === turnId)
    .then(({ params }) => params.turn);

/** Starts a turn and waits for its end. */
export async function runTurn(client: AppClient, threadId: string, words: string, more: object = {}): Promise<Body> {
  const { id } = await startTurn(client, threadId, words, more);
  return turnEnd(client, id);
}

export const completedItems = ({ received }: AppClient, turnId: string, type: string): Body[] =>
  received
    .filter(
      ({ method, params }) => method === "item/completed" && params.turnId === turnId && params.item.type === type,
    )
    .map(({ params }) => params.item);

export const messagesOf = ({ received }: AppClient, method: string): Body[] =>
  received.filter((message) => message.method === method).map(({ params }) => params);
