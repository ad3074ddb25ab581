// What waits to be sent to one client: in order, nothing lost, pieces of one item's text joined while the client is slow.
import { noticeText } from "./envelope.ts";
import { itemOf, join, type Notice } from "./pieces.ts";

/** The way to a client. */
export interface Link {
  /** Hands one message over; `taken` is called when it has left this process, or never will. */
  send(text: string, taken: () => void): void;
  /** Ends the connection; what was sent before still goes out. */
  close(reason: string): void;
  /** For a client that does not read: producers wait for it, or it is disconnected. */
  readonly whenFull: "wait" | "disconnect";
}

export interface Outbox {
  send(text: string): void;
  /** `write` serializes the notification; not called where it is joined to one that waits. */
  notify(notice: Notice, write: () => string): void;
  hasRoom(): boolean;
  /** Settles when producers may go on. */
  room(): Promise<void>;
  /** Settles when everything has been handed over, or the outbox is closed. */
  flush(): Promise<void>;
  close(): void;
}

/** As the public counterpart has it. */
export const maxMessages = 32_768;
export const maxCharacters = 64 * 1024 * 1024;
/** Handed to the system without waiting to hear that it has gone. */
const maxInFlight = 256 * 1024;
/** Producers wait while more than this is queued. */
const roomy = { messages: 1024, characters: 4 * 1024 * 1024 };

interface Waiting {
  /** None once pieces were joined: written out when it is sent. */
  text: string | undefined;
  notice?: Notice;
  characters: number;
}

/** `onFull` is called when too much is queued for a client that producers do not wait for. */
export function openOutbox(link: Link, onFull: () => void): Outbox {
  const queue = new Set<Waiting>();
  const newestOfItem = new Map<string, Waiting>();
  const waiters = new Map<() => void, () => boolean>();
  let characters = 0;
  let inFlight = 0;
  let isClosed = false;

  function put(waiting: Waiting): void {
    if (isClosed) return;
    queue.add(waiting);
    characters += waiting.characters;
    pump();
    if (link.whenFull === "disconnect" && (queue.size > maxMessages || characters > maxCharacters)) onFull();
  }

  function pump(): void {
    for (const waiting of queue) {
      if (inFlight >= maxInFlight) break;
      queue.delete(waiting);
      forget(waiting);
      const text = waiting.text ?? noticeText(waiting.notice as Notice);
      inFlight += text.length;
      link.send(text, () => {
        inFlight -= text.length;
        pump();
      });
    }
    for (const [resolve, isDone] of waiters) if (isClosed || isDone()) waiters.delete(resolve) && resolve();
  }

  function forget(waiting: Waiting): void {
    characters -= waiting.characters;
    const item = waiting.notice && itemOf(waiting.notice.params);
    if (item !== undefined && newestOfItem.get(item) === waiting) newestOfItem.delete(item);
  }

  /** Adds the notice to a piece that still waits. */
  function joinWaiting(item: string, notice: Notice): boolean {
    const waiting = newestOfItem.get(item);
    const joined = waiting?.notice && join(waiting.notice, notice);
    if (!waiting || !joined) return false;
    const grown = lengthOf(notice);
    Object.assign(waiting, { notice: joined, text: undefined, characters: waiting.characters + grown });
    characters += grown;
    return true;
  }

  const hasRoom = () =>
    link.whenFull === "disconnect" ||
    (queue.size < roomy.messages && characters < roomy.characters && inFlight < maxInFlight);
  const until = (isDone: () => boolean): Promise<void> =>
    isClosed || isDone() ? Promise.resolve() : new Promise((resolve) => waiters.set(resolve, isDone));

  return {
    send: (text) => put({ text, characters: text.length }),
    notify(notice, write) {
      const item = itemOf(notice.params);
      if (item !== undefined && joinWaiting(item, notice)) return;
      const text = write();
      const waiting = { text, notice, characters: text.length };
      put(waiting);
      if (item !== undefined && queue.has(waiting)) newestOfItem.set(item, waiting);
    },
    hasRoom,
    room: () => until(hasRoom),
    flush: () => until(() => queue.size === 0 && inFlight === 0),
    close() {
      isClosed = true;
      queue.clear();
      newestOfItem.clear();
      pump();
    },
  };
}

const lengthOf = ({ params }: Notice): number => String(params.delta ?? params.deltaBase64 ?? "").length;
