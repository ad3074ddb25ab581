// The messages of runs that this server drives, each given to its driver once.
import type { SteeringInput } from "@agentcli/engine";
import type { DataKey, PlatformContext } from "../../foundation/index.ts";
import { isFormerUser } from "../../identity/index.ts";
import { messagesChannel, readWaiting } from "./store.ts";

export interface RunMessages {
  /** Those that wait already, and those that come until it is closed. */
  follow(run: FollowedRun): FollowedMessages;
  close(): void;
}

export interface FollowedRun {
  run: { id: string; createdAt: Date };
  /** Of the agent. */
  key: DataKey;
  requester: { userId: number | null };
}

export interface FollowedMessages {
  /** What has come since the last call; nothing of a user who was removed meanwhile. */
  take(): Promise<SteeringInput[]>;
  close(): void;
}

/** A message that is taken and never written stays undelivered: the next driver of the run takes it. */
export async function openRunMessages({ db, notifications, log }: PlatformContext): Promise<RunMessages> {
  const followers = new Map<string, () => void>();
  const unsubscribe = await notifications.subscribe(messagesChannel, {
    onMessage: (runId) => followers.get(runId)?.(),
    onGap() {
      for (const read of [...followers.values()]) read();
    },
  });
  return {
    close: unsubscribe,
    follow({ run: { id: runId, createdAt }, key, requester: { userId } }) {
      const taken = new Set<string>();
      let waiting: SteeringInput[] = [];
      const read = async () => {
        for (const { id, text } of await readWaiting(db, key, runId)) {
          if (taken.has(id)) continue;
          taken.add(id);
          waiting.push({ input: [{ type: "text", text }], clientId: id });
        }
      };
      const readLater = () =>
        void read().catch((error: unknown) => log.error("messages of a run could not be read", error, { runId }));
      followers.set(runId, readLater);
      readLater();
      return {
        async take() {
          if (waiting.length === 0 || (await isFormerUser(db, { userId, since: createdAt }))) return [];
          const now = waiting;
          waiting = [];
          return now;
        },
        close() {
          if (followers.get(runId) === readLater) followers.delete(runId);
        },
      };
    },
  };
}
