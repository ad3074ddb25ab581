// What a worker that a test plays answers: as an honest one does, or as the test chooses.
import type { Duplex } from "node:stream";
import { setTimeout as pause } from "node:timers/promises";
import type { Answer, LinkRequest } from "@agentcli/workspace";

export type Handler = (request: LinkRequest, answer: Answer) => Promise<void>;
export type Behaviour = Record<string, Handler>;

export const report = {
  mode: "workspace-write",
  backend: "bubblewrap",
  fs: "workspace-write",
  net: "off",
  pid: true,
  syscalls: true,
};
export const noChanges = Buffer.alloc(4);

export const reply =
  (body: object, then: (stream: Duplex) => void = (stream) => void stream.end()): Handler =>
  async ({ stream }, answer) => {
    stream.resume();
    answer(body);
    then(stream);
  };

/** Answers as a worker does whose every command prints nothing and succeeds. */
export const honest: Behaviour = {
  "agent.claim": reply({}),
  "agent.release": reply({}),
  "sync.state": reply({ id: null }),
  async "sync.apply"({ stream }, answer) {
    stream.resume();
    await pause(10);
    answer({});
    stream.end();
  },
  "sync.collect": reply({}, (stream) => void stream.end(noChanges)),
  "sync.collectAll": reply({}, (stream) => void stream.end(noChanges)),
  "sync.commit": reply({}),
  "sandbox.describe": reply({ report, incarnation: null }),
  "sandbox.open": serving(() => exited(0)),
  "sandbox.close": reply({}),
};

export const exited = (exitCode: unknown) => ({
  state: "exited",
  seq: 0,
  exitCode,
  durationMs: 1,
  timedOut: false,
  droppedBytes: 0,
});

/** A workspace whose operations are answered by the test; `act` may also write what it likes. */
export function serving(
  act: (call: { operation: string; call: number }, write: (line: object) => void) => unknown,
): Handler {
  return async ({ body, stream }, answer) => {
    answer({});
    const write = (line: object) => void (stream.writable && stream.write(`${JSON.stringify(line)}\n`));
    const { incarnation } = body as { incarnation: string };
    write({ frame: "hello", protocol: 1, root: "/workspace", incarnation });
    let rest = "";
    stream.on("data", (data) => {
      const lines = (rest + String(data)).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const frame = JSON.parse(line) as { frame: string; operation: string; call: number };
        if (frame.frame !== "call") continue;
        const result = act(frame, write);
        if (result !== undefined) write({ frame: "result", call: frame.call, result });
      }
    });
  };
}
