// One client's conversation, from its first message to the end of its connection.
import { setMaxListeners } from "node:events";
import type { ParamsOf } from "@agentcli/protocol/app-server";
import { type Client, invalidRequest } from "../method.ts";
import { openCalls } from "./calls.ts";
import { checkParams, type Errand } from "./dispatch.ts";
import { type Message, noticeText, readMessage, refusalText } from "./envelope.ts";
import { type Link, type Outbox, openOutbox } from "./outbox.ts";
import type { Notice } from "./pieces.ts";
import { openQuestions, type Questions } from "./questions.ts";

export interface Connection {
  /** Handles one message of any kind. */
  receive(text: string): void;
  /** The client, once it is initialized. */
  readonly client: Client | undefined;
  /** Whether the client reads about as fast as messages are queued; `room` settles when it does. */
  hasRoom(): boolean;
  room(): Promise<void>;
  /** The client will send nothing more: settles when its requests are answered. */
  drain(): Promise<void>;
  /** Aborts the methods running for this client. */
  stop(): void;
  /** Settles when every queued message has been handed to the transport. */
  flush(): Promise<void>;
  end(reason: string): void;
}

/** What a connection needs of the server it belongs to. */
export interface Counter {
  id: number;
  /** Executes a request of an initialized client. */
  perform(errand: Errand): unknown;
  /** What `initialize` answers. */
  welcome(client: Client): unknown;
  /** A line for the log. */
  log(line: string): void;
  onEnd(): void;
}

export function openConnection(link: Link, counter: Counter): Connection {
  const closed = new AbortController();
  setMaxListeners(0, closed.signal);
  const outbox = openOutbox(link, () => end("it does not read what it is sent"));
  const questions = openQuestions(outbox.send);
  const calls = openCalls(outbox.send);
  let client: Client | undefined;

  function request({ id, method, params }: Extract<Message, { kind: "request" }>): void {
    calls.answer(id, (call) => {
      if (method === "initialize") return initialize(params);
      if (!client) throw invalidRequest("Not initialized");
      return counter.perform({ method, params, client, call });
    });
  }

  function initialize(params: unknown): unknown {
    if (client) throw invalidRequest("Already initialized");
    const checked = checkParams("initialize", params) as ParamsOf<"initialize">;
    client = describe(counter.id, checked, { outbox, questions, closed: closed.signal });
    return counter.welcome(client);
  }

  function end(reason: string): void {
    if (closed.signal.aborted) return;
    closed.abort();
    calls.stop();
    questions.abandon(`The client is gone: ${reason}.`);
    outbox.close();
    link.close(reason);
    counter.onEnd();
  }

  return {
    get client() {
      return client;
    },
    receive: (text) => {
      const message = readMessage(text);
      if (message.kind === "request") request(message);
      else if (message.kind === "unclear")
        outbox.send(refusalText(message.id, invalidRequest(`Invalid request: ${message.reason}`)));
      else takeIn(message, questions, counter.log);
    },
    hasRoom: outbox.hasRoom,
    room: outbox.room,
    async drain() {
      questions.abandon("The client has ended its input.");
      await calls.idle();
    },
    stop: calls.stop,
    flush: outbox.flush,
    end,
  };
}

interface Ends {
  outbox: Outbox;
  questions: Questions;
  closed: AbortSignal;
}

/** The client as methods see it. */
function describe(id: number, introduction: ParamsOf<"initialize">, { outbox, questions, closed }: Ends): Client {
  const { optOutNotificationMethods, experimentalApi } = introduction.capabilities ?? {};
  const optedOut = new Set(optOutNotificationMethods);
  return {
    id,
    info: introduction.clientInfo,
    wantsExperimental: experimentalApi === true,
    optedOut,
    notify(method, params) {
      const notice = { method, params } as Notice;
      if (!optedOut.has(method)) outbox.notify(notice, () => writtenOnce(notice));
    },
    ask: (method, params, signal) => questions.ask({ method, params, signal }),
    room: outbox.room,
    closed,
  };
}

/** Messages without an answer. The only client notification is `initialized`, which needs no action. */
function takeIn(message: Message, questions: Questions, log: (line: string) => void): void {
  if (message.kind === "noise") log(`A message was ignored: ${message.reason}.`);
  if (message.kind === "answer" && !questions.settle(message.id, message.outcome))
    log(`An answer was ignored: nothing was asked under the id ${JSON.stringify(message.id)}.`);
}

const written = new WeakMap<object, { method: string; text: string }>();

/** Many clients receive the same notification: params that are one object are serialized once. */
function writtenOnce(notice: Notice): string {
  const known = written.get(notice.params);
  if (known?.method === notice.method) return known.text;
  const text = noticeText(notice);
  written.set(notice.params, { method: notice.method, text });
  return text;
}
