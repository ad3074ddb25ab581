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
        // Later, as over a transport: the client may send from where it receives.
        send: (text, taken) =>
          void setImmediate(() => {
            received(text);
            taken();
          }),
        close: lost,
        whenFull: "wait",
      });
      return { send: connection.receive, close: () => connection.end("the client closed the connection") };
    },
    close: server.close,
  };
}
