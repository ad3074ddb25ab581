// Another thread in the place of this one: resumed, forked, or forked before an earlier message to edit it.
import type { Thread, ThreadStartResponse } from "@agentcli/protocol/app-server";
import { emptyBuffer } from "../composer/index.ts";
import { note, openTranscript } from "../transcript/index.ts";
import { openPicker } from "./picker.ts";
import { type App, flash } from "./state.ts";
import { opened, threadEntry } from "./thread.ts";

export function pickThread(app: App): Promise<void> {
  return attempt(app, async () => {
    const { data } = await app.client.request("thread/list", {
      limit: 100,
      sortKey: "updated_at",
      cwd: app.state.settings.cwd,
    });
    openPicker<Thread>(app, {
      title: "Resume",
      entries: data.map(threadEntry),
      choose: ({ id }) =>
        void attempt(app, async () =>
          show(app, await app.client.request("thread/resume", { threadId: id }), { what: "Resumed", history: "print" }),
        ),
      dismiss: () => {},
    });
  });
}

export function fork(app: App): Promise<void> {
  return attempt(app, async () => {
    const { threadId } = app.state;
    show(app, await app.client.request("thread/fork", { threadId }), {
      what: `Forked from ${threadId}`,
      history: "silent",
    });
  });
}

/** The thread as it was before the message, and the message to be edited. */
export function editEarlier(app: App): Promise<void> {
  return attempt(app, async () => {
    const { threadId } = app.state;
    const { thread } = await app.client.request("thread/read", { threadId, includeTurns: true });
    const entries = thread.turns.flatMap((turn, index) => {
      const first = turn.items.find((item) => item.type === "userMessage");
      const text = first?.content.map((part) => (part.type === "text" ? part.text : "")).join("") ?? "";
      return text === "" ? [] : [{ label: text, value: { text, before: thread.turns[index - 1]?.id ?? null } }];
    });
    if (entries.length === 0) return flash(app, "There is no earlier message to edit.");
    openPicker(app, {
      title: "Edit an earlier message; the thread is forked before it",
      entries: entries.reverse(),
      choose: ({ text, before }) => void attempt(app, () => forkBefore(app, text, before)),
      dismiss: () => {},
    });
  });
}

async function forkBefore(app: App, text: string, lastTurnId: string | null): Promise<void> {
  const { threadId, settings } = app.state;
  const answer =
    lastTurnId === null
      ? await app.client.request("thread/start", {
          cwd: settings.cwd,
          model: settings.model,
          approvalPolicy: settings.approval,
          sandbox: sandboxMode[settings.sandbox.type],
        })
      : await app.client.request("thread/fork", { threadId, lastTurnId });
  show(app, answer, { what: `Forked from ${threadId} before this message`, history: "silent" });
  app.state.buffer = emptyBuffer(text);
}

export const sandboxMode = {
  readOnly: "read-only",
  workspaceWrite: "workspace-write",
  dangerFullAccess: "danger-full-access",
  externalSandbox: null,
} as const;

interface Shown {
  what: string;
  history: "print" | "silent";
}

/** With its turns, unless they are on the screen already. */
function show(app: App, answer: ThreadStartResponse, { what, history }: Shown): void {
  const { threadId, name, settings, turns } = opened(answer);
  const before = app.state.threadId;
  const active = turns.find(({ status }) => status === "inProgress");
  const transcript = openTranscript(threadId);
  transcript.recall(turns);
  if (history === "silent") transcript.take(80);
  transcript.print(note("↪", `${what}: thread ${threadId}`));
  Object.assign(app.state, {
    threadId,
    threadName: name,
    settings,
    transcript,
    turnId: active?.id ?? null,
    usage: null,
    outgoing: [],
  });
  if (before !== threadId) void app.client.request("thread/unsubscribe", { threadId: before }).catch(() => {});
  app.redraw();
}

/** A request that fails is shown, and changes nothing. */
export async function attempt(app: App, act: () => Promise<void>): Promise<void> {
  try {
    await act();
  } catch (error) {
    flash(app, (error as Error).message);
  }
}
