// review/start: reviews a change in a turn of the thread itself, or of a new one.
import { reviewTurn } from "@agentcli/engine/review";
import type { Run, RunOptions } from "@agentcli/host";
import type { ReviewTarget } from "@agentcli/protocol/app-server";
import type { Call, Client, Methods } from "../method.ts";
import type { Input, ReviewRequest } from "../program.ts";
import type { TurnOpening } from "./opening.ts";
import type { OwnThread } from "./own-thread.ts";
import type { ThreadTable } from "./table.ts";
import { loaded } from "./turn-methods.ts";

export function reviewMethods(table: ThreadTable, input: Input): Methods {
  return {
    async "review/start"({ threadId, target, delivery }, client, call) {
      const asking = loaded(threadId, table);
      const thread = delivery === "detached" ? await beside(asking, table) : asking;
      const { turn, begin } = await thread.start({
        kind: "review",
        client,
        change: {},
        adjust: readOnly,
        open: (run) => openReview(target, run, input),
      });
      announce(thread, { client, call, isNew: thread !== asking });
      call.afterwards(begin);
      return { turn, reviewThreadId: thread.id };
    },
  };
}

/** A separate thread in the same directory. */
function beside(thread: OwnThread, table: ThreadTable): Promise<OwnThread> {
  const { model, provider: modelProvider, cwd } = thread.run().settings;
  return table.open({ kind: "new", ephemeral: false, change: { model, modelProvider, cwd }, instructions: {} });
}

function announce(thread: OwnThread, { client, call, isNew }: { client: Client; call: Call; isNew: boolean }): void {
  const startNotifying = thread.audience.join(client);
  call.afterwards(() => {
    if (isNew) client.notify("thread/started", { thread: thread.describe("without turns") });
    startNotifying();
  });
}

/** A review changes nothing, whatever the thread may do. */
const readOnly = (options: RunOptions): RunOptions => ({
  ...options,
  sandbox: "read-only",
  moreDirectories: [],
  purpose: "review",
});

async function openReview(target: ReviewTarget, run: Run, input: Input): Promise<TurnOpening> {
  const { assignment, nothing } = await input.openReview(reviewRequest(target), run);
  const opening = reviewTurn(assignment);
  return nothing === null ? opening : { ...opening, answer: `Nothing to review: ${nothing}` };
}

function reviewRequest(target: ReviewTarget): ReviewRequest {
  switch (target.type) {
    case "uncommittedChanges":
      return { kind: "uncommitted" };
    case "baseBranch":
      return { kind: "base", branch: target.branch };
    case "commit":
      return { kind: "commit", name: target.sha, title: target.title ?? undefined };
    case "custom":
      return { kind: "custom", instructions: target.instructions };
  }
}
