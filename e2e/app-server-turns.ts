// Short words for what tests of the app server do with turns.
import type { AppClient, Body, Message } from "./app-server-client.ts";

export const text = (words: string) => [{ type: "text", text: words }];

export const startTurn = (client: AppClient, threadId: string, words: string, more: object = {}): Promise<Body> =>
  client.request("turn/start", { threadId, input: text(words), ...more }).then(({ turn }) => turn);

export const turnEnd = (client: AppClient, turnId: string): Promise<Body> =>
  client
    .until(({ method, params }: Message) => method === "turn/completed" && params.turn.id === turnId)
    .then(({ params }) => params.turn);

/** Starts a turn and waits for its end. */
export async function runTurn(client: AppClient, threadId: string, words: string, more: object = {}): Promise<Body> {
  const { id } = await startTurn(client, threadId, words, more);
  return turnEnd(client, id);
}

export const completedItems = ({ heard }: AppClient, turnId: string, type: string): Body[] =>
  heard
    .filter(
      ({ method, params }) => method === "item/completed" && params.turnId === turnId && params.item.type === type,
    )
    .map(({ params }) => params.item);

export const messagesOf = ({ heard }: AppClient, method: string): Body[] =>
  heard.filter((message) => message.method === method).map(({ params }) => params);
