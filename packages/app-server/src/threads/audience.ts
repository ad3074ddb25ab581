// The clients notified of a thread: those that started, resumed or joined it, until they leave or are gone.
import type { NotificationName } from "@agentcli/protocol/app-server";
import type { Notice } from "@agentcli/surfaces/app-server";
import type { Client } from "../method.ts";

export interface Audience {
  /** From now on; notifications are held back until the returned function is called, after an answer. */
  join(client: Client): () => void;
  /** False where it was not there. */
  leave(client: Client): boolean;
  members(): Client[];
  notify(notices: Notice[]): void;
  /** Settles when no client that producers wait for lags behind. */
  room(): Promise<void>;
}

interface Member {
  /** Null once the client is notified directly. */
  held: Notice[] | null;
  forget(): void;
}

/** `onEmpty` is called when the last one has left. */
export function openAudience(onEmpty: () => void): Audience {
  const members = new Map<Client, Member>();
  const leave = (client: Client): boolean => {
    const member = members.get(client);
    if (!member) return false;
    client.closed.removeEventListener("abort", member.forget);
    members.delete(client);
    if (members.size === 0) onEmpty();
    return true;
  };
  return {
    join(client) {
      if (members.has(client) || client.closed.aborted) return () => {};
      const member: Member = { held: [], forget: () => void leave(client) };
      members.set(client, member);
      client.closed.addEventListener("abort", member.forget, { once: true });
      return () => {
        const held = member.held ?? [];
        member.held = null;
        for (const notice of held) notify(client, notice);
      };
    },
    leave,
    members: () => [...members.keys()],
    notify(notices) {
      for (const notice of notices) {
        for (const [client, { held }] of members) held ? held.push(notice) : notify(client, notice);
      }
    },
    async room() {
      for (const client of members.keys()) await client.room();
    },
  };
}

/** Method and params belong together by the type of a notice; the compiler cannot see that through two arguments. */
export const notify = (client: Client, { method, params }: Notice): void =>
  client.notify<NotificationName>(method, params);
