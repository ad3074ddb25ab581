// The server within the program that uses it: the same messages, without a transport.
import { parts } from "../parts.ts";
import type { Agent, Program } from "../program.ts";
import { openServer } from "../server.ts";

export interface InProcessServer {
  connect(client: InProcessClient): Promise<InProcessLink>;
  /** Ends running work. */
  close(): Promise<void>;
}

export interface InProcessClient {
  received(text: string): void;
  lost(reason: string): void;
}

export interface InProcessLink {
  send(text: string): void;
  close(): void;
}

export function openInProcess(program: Program, agent: Agent): InProcessServer {
  const server = openServer(program, agent, parts);
  return {
    async connect({ received, lost }) {
      const connection = server.connect({
        send: openDelivery(received),
        close: lost,
        whenFull: "wait",
      });
      return { send: connection.receive, close: () => connection.end("the client closed the connection") };
    },
    close: server.close,
  };
}

/** Then other work has its turn: the client is a program that also answers keys. */
const sliceMs = 4;

interface Delivery {
  text: string;
  taken(): void;
}

/** Later, as over a transport: the client may send from where it receives. */
function openDelivery(received: (text: string) => void): (text: string, taken: () => void) => void {
  const waiting = new Set<Delivery>();
  let isScheduled = false;
  const schedule = () => {
    if (!isScheduled && waiting.size > 0) setImmediate(deliver);
    isScheduled = waiting.size > 0;
  };
  const deliver = () => {
    const endMs = performance.now() + sliceMs;
    try {
      for (const delivery of waiting) {
        waiting.delete(delivery);
        received(delivery.text);
        delivery.taken();
        if (performance.now() >= endMs) break;
      }
    } finally {
      isScheduled = false;
      schedule();
    }
  };
  return (text, taken) => {
    waiting.add({ text, taken });
    schedule();
  };
}
