// A thread in memory with a scripted model.
import type { Block, ThreadRecord, TurnSettings, Usage } from "@agentcli/protocol";
import {
  builtInTools,
  type Dependencies,
  emptyThread,
  freeze,
  type Log,
  type ModelReply,
  type ModelRequest,
  noRepository,
  openLog,
  policyGuard,
  type SessionStore,
  StaleWriter,
  type StoredRecord,
  type Tool,
} from "../src/index.ts";

export const settings: TurnSettings = {
  model: "scripted",
  provider: "test",
  cwd: "/project",
  shell: "/bin/bash",
  sandbox: "workspace-write",
  approval: "never",
};

export const usage = (inputTokens = 0): Usage => ({
  inputTokens,
  cachedInputTokens: 0,
  cacheWriteInputTokens: 0,
  outputTokens: 1,
  reasoningOutputTokens: 0,
});

export const textReply = (text: string, inputTokens = 0): ModelReply =>
  replies([{ type: "message", text }], inputTokens);

export const replies = (blocks: Block[], inputTokens = 0): ModelReply => ({
  kind: "replied",
  blocks,
  usage: usage(inputTokens),
  model: "scripted",
});

export const calls = (name: string, input: unknown, wireId = "call"): Block => ({
  type: "call",
  wireId,
  name,
  form: "function",
  input: typeof input === "string" ? input : JSON.stringify(input),
});

export function memoryStore(): SessionStore & { records: StoredRecord[] } {
  const records: StoredRecord[] = [];
  return {
    records,
    async append(threadId, after, added) {
      if (after !== records.length) throw new StaleWriter(threadId, "");
      const at = new Date(0).toISOString();
      const stored = added.map((record, index) => ({ seq: after + index + 1, at, record }));
      records.push(...stored);
      return stored;
    },
    async *read(_, after = 0) {
      yield records.slice(after);
    },
  };
}

export interface ThreadHarness {
  store: ReturnType<typeof memoryStore>;
  log: Log;
  requests: ModelRequest[];
  dependencies: Dependencies;
  begin(text: string, more?: Partial<TurnSettings>): Promise<void>;
  types(): ThreadRecord["type"][];
}

type Scripted = (request: ModelRequest, number: number) => ModelReply;

export async function openHarness(
  model: Scripted,
  workspace: Dependencies["workspace"],
  { emit = () => {}, tools = builtInTools }: { emit?: (stored: StoredRecord) => void; tools?: Tool[] } = {},
): Promise<ThreadHarness> {
  const store = memoryStore();
  const log = openLog(emptyThread("thread"), { store, emit });
  const requests: ModelRequest[] = [];
  const environment = {
    date: "2026-01-01",
    timezone: "UTC+00:00",
    writableRoots: ["/project"],
    network: false,
    rules: [],
    catalogues: [],
  };
  await log.write({
    type: "thread.created",
    threadId: "thread",
    frozen: freeze(settings, environment, tools, { freeformTools: false }),
    settings,
    program: { name: "test", version: "0" },
  });
  return {
    store,
    log,
    requests,
    dependencies: {
      model: {
        async reply(request) {
          requests.push(structuredClone(request));
          return model(request, requests.length - 1);
        },
      },
      workspace,
      tools,
      guard: policyGuard,
      repository: noRepository,
      toolTimeoutMs: null,
      toolOutputTokens: 10_000,
      costOf: (_, { inputTokens, outputTokens }) => (inputTokens + outputTokens) / 1e6,
      wait: async () => {},
      requestOptions: {},
      onProgress() {},
    },
    begin: (text, more) =>
      log.write({
        type: "turn.begun",
        turnId: `turn-${store.records.length}`,
        input: [{ type: "text", text }],
        settings: { ...settings, ...more },
      }),
    types: () => store.records.map(({ record }) => record.type),
  };
}
