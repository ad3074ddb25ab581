// review/start: a change is judged in a turn of the thread itself, or of one made for it.
import { reviewTurn } from "@agentcli/engine/review";
import type { ReviewTarget } from "@agentcli/protocol/app-server";
import type { Program } from "../../program.ts";
import { assign } from "../../review/assign.ts";
import { collectChange } from "../../review/collect.ts";
import type { WantedTarget } from "../../review/target.ts";
import type { Run } from "../../run.ts";
import type { RunOptions } from "../../run-options.ts";
import type { Call, Client, Methods } from "../method.ts";
import type { TurnOpening } from "./opening.ts";
import type { OwnThread } from "./own-thread.ts";
import type { ThreadTable } from "./table.ts";
import { loaded } from "./turn-methods.ts";

export function reviewMethods(table: ThreadTable, program: Program): Methods {
  return {
    async "review/start"({ threadId, target, delivery }, client, call) {
      const asking = loaded(threadId, table);
      const thread = delivery === "detached" ? await beside(asking, table) : asking;
      const { turn, begin } = await thread.start({
        kind: "review",
        client,
        wish: {},
        adjust: readOnly,
        open: (run) => openReview(target, run, program),
      });
      announce(thread, { client, call, isNew: thread !== asking });
      call.afterwards(begin);
      return { turn, reviewThreadId: thread.id };
    },
  };
}

/** A thread of its own, that works where the other does. */
function beside(thread: OwnThread, table: ThreadTable): Promise<OwnThread> {
  const { model, provider: modelProvider, cwd } = thread.run().settings;
  return table.open({ kind: "new", ephemeral: false, wish: { model, modelProvider, cwd }, instructions: {} });
}

function announce(thread: OwnThread, { client, call, isNew }: { client: Client; call: Call; isNew: boolean }): void {
  const hear = thread.audience.join(client);
  call.afterwards(() => {
    if (isNew) client.notify("thread/started", { thread: thread.describe("without turns") });
    hear();
  });
}

/** A review changes nothing, whatever the thread may do. */
const readOnly = (options: RunOptions): RunOptions => ({
  ...options,
  sandbox: "read-only",
  moreDirectories: [],
  purpose: "review",
});

async function openReview(target: ReviewTarget, run: Run, program: Program): Promise<TurnOpening> {
  const wanted = wantedOf(target);
  const instructions = target.type === "custom" ? target.instructions : "";
  const change = wanted.kind === "custom" ? null : await collectChange(wanted, run.settings.cwd, program);
  const opening = reviewTurn(assign(change, instructions, run));
  return change?.diff === "" ? { ...opening, answer: `Nothing to review: ${change.nothing}` } : opening;
}

function wantedOf(target: ReviewTarget): WantedTarget {
  switch (target.type) {
    case "uncommittedChanges":
      return { kind: "uncommitted" };
    case "baseBranch":
      return { kind: "base", branch: target.branch };
    case "commit":
      return { kind: "commit", name: target.sha, title: target.title ?? undefined };
    case "custom":
      return { kind: "custom" };
  }
}
