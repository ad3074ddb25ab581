// A thread with scripted hooks that record their payloads.
import type { HookDefinition, HookOf } from "@agentcli/protocol";
import { hookDialects } from "../../project/src/hooks/index.ts";
import type { HookRequest, HookRun } from "../src/hooks/index.ts";
import { openHooks } from "../src/hooks/index.ts";
import { type Dependencies, drive, lastTurn, type ModelReply, type ThreadState } from "../src/index.ts";
import { calls, openHarness, replies, type ThreadHarness, textReply } from "./thread-harness.ts";

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

export interface Answer {
  exitCode?: number;
  stdout?: string | object;
  stderr?: string;
  timedOut?: true;
  /** Returned instead of running the hook. */
  instead?: HookRun;
}

export interface HookHarness {
  thread: ThreadHarness;
  received: { event: string; payload: Record<string, unknown>; request: HookRequest }[];
  run(prompt?: string): Promise<ThreadState>;
  /** Runs the last turn of the process. */
  runLast(): Promise<ThreadState>;
  notes(): Record<string, unknown>[];
}

/** Each definition with its answers in order; the last answer repeats. */
export async function openHookHarness(
  hooks: [HookDefinition, ...Answer[]][],
  script: ModelReply[] = [textReply("Done.")],
): Promise<HookHarness> {
  const thread = await openHarness((_, number) => script[number] ?? textReply("Done."), noWorkspace);
  const received: HookHarness["received"] = [];
  const runs = new Map<string, number>();
  thread.dependencies.hooks = openHooks({
    definitions: hooks.map(([definition], index) => ({ ...definition, hash: `sha256:${index}` })),
    dialects: hookDialects,
    skipped: [],
    runner: {
      async run(request) {
        const payload = JSON.parse(request.input);
        received.push({ event: request.definition.event, payload, request });
        const { hash } = request.definition;
        const [, ...answers] = hooks[Number(hash.slice(7))] ?? [];
        const number = runs.get(hash) ?? 0;
        runs.set(hash, number + 1);
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
    received,
    async run(prompt = "go on") {
      await thread.begin(prompt);
      return drive(thread.log, thread.dependencies, new AbortController().signal);
    },
    async runLast() {
      const { signal } = new AbortController();
      await thread.begin("go on");
      const log = lastTurn(thread.log, thread.dependencies, { signal, hookTimeoutMs: 3_000 });
      return drive(log, thread.dependencies, signal);
    },
    notes: () =>
      thread.store.records.flatMap(({ record }) =>
        record.type === "noted" && record.kind === "hook" && "status" in record.data ? [record.data] : [],
      ),
  };
}

const runOf = ({ exitCode = 0, stdout = "", stderr = "", timedOut, instead }: Answer): HookRun =>
  instead ?? {
    kind: "ran",
    exitCode,
    stdout: typeof stdout === "string" ? stdout : JSON.stringify(stdout),
    stderr,
    timedOut: timedOut ?? false,
    durationMs: 3,
  };

export const shell = (cmd: string): ModelReply => replies([calls("exec_command", { cmd })]);

/** Tool results that the model received, in order. */
export const outputs = ({ thread }: HookHarness): string[] =>
  (thread.requests.at(-1)?.messages ?? []).flatMap((message) =>
    message.role === "tool" ? message.parts.map((part) => (part.type === "text" ? part.text : "")) : [],
  );

/** Output of a hook for one event. */
export const specific = (hookEventName: string, fields: object): Answer => ({
  stdout: { hookSpecificOutput: { hookEventName, ...fields } },
});
