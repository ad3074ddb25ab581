// The thread that is shown first: started, resumed or forked.
import { CommandError } from "@agentcli/command-line";
import type { Thread, ThreadStartResponse, Turn } from "@agentcli/protocol/app-server";
import { type Client, interactiveDefaults } from "../client/index.ts";
import { shortPath } from "./look.ts";
import type { Choose } from "./pick.ts";
import type { Entry } from "./picker.ts";
import type { Settings, Start, TuiOptions } from "./state.ts";
import { askTrust } from "./trust.ts";

export interface OpenedThread {
  threadId: string;
  name: string | null;
  settings: Settings;
  turns: Turn[];
}

/** Null where the user chose none. */
export async function openThread(client: Client, options: TuiOptions, choose: Choose): Promise<OpenedThread | null> {
  const { start } = options;
  await askTrust(client, options, choose);
  const overrides = await interactiveDefaults(client, options.overrides);
  if (start.kind === "new") return opened(await client.request("thread/start", overrides));
  const threadId = await findThread({ client, options, choose }, start);
  if (threadId === null) return null;
  // The thread keeps its directory, model and sandbox, unless flags change them.
  const { approvalPolicy } = overrides;
  const params = { ...options.overrides, cwd: null, approvalPolicy, threadId };
  return opened(await client.request(start.kind === "fork" ? "thread/fork" : "thread/resume", params));
}

export const opened = ({
  thread,
  model,
  cwd,
  sandbox,
  approvalPolicy,
  reasoningEffort,
}: ThreadStartResponse): OpenedThread => ({
  threadId: thread.id,
  name: thread.name ?? null,
  settings: { model, effort: reasoningEffort ?? null, cwd, sandbox, approval: approvalPolicy },
  turns: thread.turns,
});

type Earlier = Exclude<Start, { kind: "new" }>;

interface Search {
  client: Client;
  options: TuiOptions;
  choose: Choose;
}

async function findThread(
  { client, options, choose }: Search,
  { which, isEverywhere }: Earlier,
): Promise<string | null> {
  if (typeof which === "object" && isId(which.id)) return which.id;
  const cwd = isEverywhere || typeof which === "object" ? null : (options.overrides.cwd ?? null);
  const { data } = await client.request("thread/list", { limit: 100, sortKey: "updated_at", cwd });
  if (typeof which === "object") {
    const named = data.find(({ name, id }) => name === which.id || id.startsWith(which.id));
    if (named) return named.id;
    throw new CommandError(
      "usage",
      `There is no thread with the id or name ${which.id}. See agentcli sessions list --all.`,
    );
  }
  const [newest] = data;
  if (!newest)
    throw new CommandError(
      "usage",
      `There is no earlier thread${isEverywhere ? "" : " of this directory; --all searches everywhere"}.`,
    );
  if (which === "newest") return newest.id;
  return (await choose<Thread>({ title: "Resume", entries: data.map(threadEntry) }))?.id ?? null;
}

const isId = (text: string): boolean => /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i.test(text);

export const threadEntry = (thread: Thread): Entry<Thread> => ({
  label: thread.name || thread.preview.split("\n")[0] || "(no prompt)",
  detail: `${age(thread.updatedAt)} · ${shortPath(thread.cwd)} · ${thread.id.slice(0, 8)}`,
  value: thread,
});

function age(seconds: number): string {
  const minutes = Math.max(0, Math.round((Date.now() / 1000 - seconds) / 60));
  if (minutes < 60) return `${minutes}m ago`;
  return minutes < 48 * 60 ? `${Math.round(minutes / 60)}h ago` : `${Math.round(minutes / 1440)}d ago`;
}
