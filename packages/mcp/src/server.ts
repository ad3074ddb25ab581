// One server's life: it starts, is ready or late or fails, may be lost, and is started once more when it is needed again.
import type { Answer, Question } from "./conversation.ts";
import type { Hello } from "./handshake.ts";
import type { McpHost } from "./host.ts";
import { type Link, type Linked, listTools, openLink } from "./link.ts";
import type { ServerTool } from "./readers.ts";
import { isOffered, type ServerSettings } from "./settings.ts";

export interface ServerReport {
  name: string;
  status: "ready" | "late" | "failed";
  reason: string | null;
}

export interface Server {
  readonly settings: ServerSettings;
  /** Settles when the server is ready, has failed, or has used up its time to start. */
  readonly started: Promise<ServerReport>;
  /** What it offers, as far as it has ever said; one that was lost is started again when one of these is called. */
  tools(): ServerTool[];
  capabilities(): Hello["capabilities"];
  /** How it introduced itself, once it has. */
  info(): Hello["info"];
  /** One that was lost is started again, once for each time it was lost. */
  ask(question: Question, signal: AbortSignal): Promise<Answer>;
  close(): Promise<void>;
}

type State =
  | { kind: "starting"; linked: Promise<Linked> }
  | { kind: "ready"; link: Link }
  | { kind: "lost"; reason: string }
  | { kind: "failed"; reason: string };

const nothingSaid: Hello = { info: null, capabilities: { tools: false, resources: false, prompts: false } };

// Over 60 lines because it is one state machine: whoever asks, restarts or closes must see the same state.
export function openServer(settings: ServerSettings, host: McpHost): Server {
  const ended = new AbortController();
  let starts = 0;
  let offered: ServerTool[] = [];
  let { capabilities, info } = nothingSaid;
  /** Of a connection that was lost: what is left of it is cleared away. */
  let clearing: Promise<void> = Promise.resolve();
  let state: State = { kind: "starting", linked: start(Infinity) };
  const started = report(settings, state.linked);

  async function start(limitMs: number): Promise<Linked> {
    starts += 1;
    const processId = `mcp-${settings.name}-${starts}`;
    const linked = await openLink(
      { settings, host, processId, limitMs, onToolsChanged: () => void refresh(), onLost: lose },
      ended.signal,
    );
    if (linked.kind === "link") {
      offered = linked.link.tools;
      ({ capabilities, info } = linked.link.hello);
      state = { kind: "ready", link: linked.link };
    } else state = { kind: "failed", reason: linked.fault.message };
    return linked;
  }

  function lose(reason: string): void {
    if (state.kind !== "ready") return;
    clearing = state.link.conversation.close();
    state = { kind: "lost", reason };
  }

  async function refresh(): Promise<void> {
    if (state.kind !== "ready") return;
    const { link } = state;
    const listed = await listTools(link, { clean: host.clean, limitMs: settings.startLimitMs }, ended.signal);
    if (listed.kind === "result") offered = listed.result;
  }

  async function reach(): Promise<Linked> {
    if (state.kind === "ready") return { kind: "link", link: state.link };
    if (state.kind === "lost") state = { kind: "starting", linked: start(settings.startLimitMs) };
    if (state.kind === "starting") return state.linked;
    return { kind: "fault", fault: { kind: "lost", message: `it is not running: ${state.reason}` } };
  }

  return {
    settings,
    started,
    tools: () => offered.filter((tool) => isOffered(settings, tool.name)),
    capabilities: () => capabilities,
    info: () => info,
    async ask(question, signal) {
      const linked = await Promise.race([reach(), stopOf(signal)]);
      if (linked.kind === "fault") return linked;
      const answer = await linked.link.conversation.ask(question, signal);
      // It may have been lost in the moment between its greeting and its being ready.
      if (answer.kind === "fault" && answer.fault.kind === "lost") lose(answer.fault.message);
      return answer;
    },
    async close() {
      const last = state;
      ended.abort();
      await clearing;
      if (last.kind === "ready") await last.link.conversation.close();
      if (last.kind !== "starting") return;
      const linked = await last.linked;
      if (linked.kind === "link") await linked.link.conversation.close();
    },
  };
}

/** Settles when the caller gives up: starting again may take longer than anybody waits. */
const stopOf = (signal: AbortSignal): Promise<Extract<Linked, { kind: "fault" }>> =>
  new Promise((resolve) => {
    const stop = () => resolve({ kind: "fault", fault: { kind: "stopped", message: "the call was stopped" } });
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop, { once: true });
  });

/** An optional server that is late goes on starting; a required one has failed. */
async function report(
  { name, startLimitMs, required }: ServerSettings,
  starting: Promise<Linked>,
): Promise<ServerReport> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<null>((resolve) => {
    timer = setTimeout(resolve, startLimitMs, null);
  });
  const linked = await Promise.race([starting, limit]);
  clearTimeout(timer);
  if (linked?.kind === "link") return { name, status: "ready", reason: null };
  if (linked) return { name, status: "failed", reason: linked.fault.message };
  const reason = `it was not ready within ${startLimitMs / 1000} s`;
  return {
    name,
    status: required ? "failed" : "late",
    reason: required ? reason : `${reason}; its tools join on the next turn`,
  };
}
