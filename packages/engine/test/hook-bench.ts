// A thread with hooks that answer what a test tells them to, and write down what they were told.
import type { HookDefinition, HookOf } from "@agentcli/protocol";
import type { HookRequest, HookRun } from "../src/hooks/index.ts";
import { openHooks } from "../src/hooks/index.ts";
import { type Dependencies, drive, lastTurn, type ModelReply, type ThreadState } from "../src/index.ts";
import { type Bench, bench, calls, replies, says } from "./memory.ts";

export const noWorkspace = {
  incarnation: "none",
  root: "/project",
  release: async () => {},
  async exec({ start }: { start: { argv: string[] } }, onChunk: (chunk: object) => void) {
    onChunk({ seq: 1, stream: "stdout", text: `ran ${start.argv[2]}\n` });
    return { state: "exited", seq: 1, exitCode: 0, durationMs: 5, timedOut: false, droppedBytes: 0 };
  },
  read: async () => ({ files: [{ kind: "lines", firstLine: 1, totalLines: 1, lines: ["secret"] }] }),
  edit: async ({ edits }: { edits: { path: string; kind: "add" }[] }) => ({
    kind: "edited",
    files: edits.map(({ path, kind }) => ({ path, kind })),
  }),
} as unknown as Dependencies["workspace"];

export const hook = (event: string, more: Partial<HookOf<"command">> = {}): HookOf<"command"> => ({
  dialect: /^[a-z]/.test(event) ? "platform" : "agentcli",
  event,
  matcher: null,
  command: "hook",
  timeoutMs: 1000,
  failClosed: false,
  loopLimit: null,
  async: false,
  contextTokens: 2500,
  source: { kind: "project", path: "/project/hooks.json" },
  key: `hooks.json:${event}:0:0`,
  hash: "sha256:0",
  ...more,
});

export interface Said {
  exitCode?: number;
  stdout?: string | object;
  stderr?: string;
  timedOut?: true;
  /** In place of a run. */
  instead?: HookRun;
}

export interface Hooked {
  thread: Bench;
  told: { event: string; payload: Record<string, unknown>; request: HookRequest }[];
  run(prompt?: string): Promise<ThreadState>;
  /** As the last turn of its program. */
  runLast(): Promise<ThreadState>;
  notes(): Record<string, unknown>[];
}

/** Each definition with what it says, time after time; the last answer stays. */
export async function hooked(
  hooks: [HookDefinition, ...Said[]][],
  script: ModelReply[] = [says("Done.")],
): Promise<Hooked> {
  const thread = await bench((_, number) => script[number] ?? says("Done."), noWorkspace);
  const told: Hooked["told"] = [];
  const asked = new Map<string, number>();
  thread.dependencies.hooks = openHooks({
    definitions: hooks.map(([definition], index) => ({ ...definition, hash: `sha256:${index}` })),
    skipped: [],
    runner: {
      async run(request) {
        const payload = JSON.parse(request.input);
        told.push({ event: request.definition.event, payload, request });
        const { hash } = request.definition;
        const [, ...answers] = hooks[Number(hash.slice(7))] ?? [];
        const number = asked.get(hash) ?? 0;
        asked.set(hash, number + 1);
        return runOf(answers[number] ?? answers.at(-1) ?? {});
      },
    },
    isUnchanged: async ({ hash }) => hooks[Number(hash.slice(7))]?.[1]?.instead?.kind !== "modified",
    limitMs: null,
    projectRoot: "/project",
    version: "1.2.3",
    servers: { checks: { url: "https://checks.example.com/mcp" } },
    transcriptPath: (id) => `/sessions/${id}.jsonl`,
  });
  return {
    thread,
    told,
    async run(prompt = "go on") {
      await thread.begin(prompt);
      return drive(thread.log, thread.dependencies, new AbortController().signal);
    },
    async runLast() {
      const { signal } = new AbortController();
      await thread.begin("go on");
      const log = lastTurn(thread.log, thread.dependencies, { signal, patienceMs: 3_000 });
      return drive(log, thread.dependencies, signal);
    },
    notes: () =>
      thread.store.records.flatMap(({ record }) =>
        record.type === "noted" && record.kind === "hook" && record.data.status !== undefined ? [record.data] : [],
      ),
  };
}

const runOf = ({ exitCode = 0, stdout = "", stderr = "", timedOut, instead }: Said): HookRun =>
  instead ?? {
    kind: "ran",
    exitCode,
    stdout: typeof stdout === "string" ? stdout : JSON.stringify(stdout),
    stderr,
    timedOut: timedOut ?? false,
    durationMs: 3,
  };

export const shell = (cmd: string): ModelReply => replies([calls("exec_command", { cmd })]);

/** What the model was told by the tools, in order. */
export const outputs = ({ thread }: Hooked): string[] =>
  (thread.requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === "tool" ? message.parts.map((part) => (part.type === "text" ? part.text : "")) : [],
  );

/** What a hook prints about one event. */
export const specific = (hookEventName: string, fields: object): Said => ({
  stdout: { hookSpecificOutput: { hookEventName, ...fields } },
});
