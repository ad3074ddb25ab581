// A client of the app server: requests and their answers, notifications, questions of the server. A lost connection is opened
// again until the program ends.
import { setTimeout as delay } from "node:timers/promises";
import type {
  AnswerOf,
  MethodName,
  ParamsOf,
  QuestionOf,
  ResultOf,
  ServerRequestName,
} from "@agentcli/protocol/app-server";
import type { Notice } from "@agentcli/surfaces/app-server";

/** One open connection. */
export interface Link {
  send(text: string): void;
  close(): void;
}

export interface LinkEvents {
  received(text: string): void;
  lost(reason: string): void;
}

/** Opens a connection; throws an error with a reason where that fails. */
export type Connect = (events: LinkEvents) => Promise<Link>;

export type Question = {
  [Name in ServerRequestName]: {
    id: string | number;
    method: Name;
    params: QuestionOf<Name>;
    answer(result: AnswerOf<Name>): void;
  };
}[ServerRequestName];

export interface ClientEvents {
  notice(notice: Notice): void;
  asked(question: Question): void;
  /** The connection is open again after a loss: what was missed has to be read. */
  reopened(): void;
  lost(reason: string): void;
}

export interface Client {
  request<Name extends MethodName>(method: Name, params: ParamsOf<Name>): Promise<ResultOf<Name>>;
  close(): void;
}

/** The server rejected a request. */
export class RequestError extends Error {}
/** The connection was lost before the answer. */
export class ConnectionLost extends Error {}

interface Pending {
  resolve(result: never): void;
  reject(error: Error): void;
}

export interface ClientOptions {
  connect: Connect;
  /** As the server knows the program. */
  clientName: string;
  version: string;
  events: ClientEvents;
  signal: AbortSignal;
}

export async function openClient({ connect, clientName, version, events, signal }: ClientOptions): Promise<Client> {
  const pending = new Map<number, Pending>();
  let link: Link | null = null;
  let next = 0;
  const send = (message: object) => link?.send(JSON.stringify(message));
  const request: Client["request"] = (method, params) =>
    new Promise((resolve, reject) => {
      if (!link) return reject(new ConnectionLost("not connected"));
      const id = next++;
      pending.set(id, { resolve, reject });
      send({ id, method, params });
    });
  const received = (text: string) => {
    const message = JSON.parse(text) as Message;
    if (message.method === undefined) settle(pending, message);
    else if (message.id === undefined) events.notice(message as unknown as Notice);
    else events.asked({ ...message, answer: (result: unknown) => send({ id: message.id, result }) } as Question);
  };
  const open = async () => {
    link = await connect({ received, lost });
    await request("initialize", {
      clientInfo: { name: clientName, title: "agentcli", version },
      capabilities: null,
    });
    send({ method: "initialized" });
  };
  const lost = (reason: string) => {
    if (!link || signal.aborted) return;
    link = null;
    for (const { reject } of pending.values()) reject(new ConnectionLost(reason));
    pending.clear();
    events.lost(reason);
    void reopen(open, signal).then((isOpen) => isOpen && events.reopened());
  };
  await open();
  return {
    request,
    close() {
      const closing = link;
      link = null;
      closing?.close();
    },
  };
}

interface Message {
  id?: string | number;
  method?: string;
  params?: unknown;
  result?: unknown;
  error?: { message?: string };
}

function settle(pending: Map<number, Pending>, { id, result, error }: Message): void {
  const request = pending.get(Number(id));
  pending.delete(Number(id));
  if (error) request?.reject(new RequestError(error.message ?? "the server gave no reason"));
  else request?.resolve(result as never);
}

const firstDelayMs = 100;
const maxDelayMs = 5000;

/** False when the program ended first. */
async function reopen(open: () => Promise<void>, signal: AbortSignal): Promise<boolean> {
  for (let waitMs = firstDelayMs; !signal.aborted; waitMs = Math.min(maxDelayMs, waitMs * 2)) {
    try {
      await delay(waitMs, undefined, { signal });
      await open();
      return true;
    } catch {
      // Not there yet: it is tried again until the user quits.
    }
  }
  return false;
}
