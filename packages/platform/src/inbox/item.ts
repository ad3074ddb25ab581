// What every kind of item has in common.
import type { Principal } from "../foundation/index.ts";

export type UserPrincipal = Extract<Principal, { kind: "user" }>;

/** An item without a mark is unread. */
export const isUnread = (mark: string | null): boolean => mark === null || mark === "unread";
