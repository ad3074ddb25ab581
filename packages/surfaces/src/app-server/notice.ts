// A notification to clients of the app server, as a value.
import type { NoticeOf, NotificationName } from "@agentcli/protocol/app-server";

export type Notice = { [Name in NotificationName]: { method: Name; params: NoticeOf<Name> } }[NotificationName];
