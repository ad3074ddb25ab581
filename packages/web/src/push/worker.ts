// The service worker: shows notifications that arrive while no page is open, and opens the page that one is about. It caches nothing.
import type { Inbox, PushMessage } from "@agentcli/protocol/api";
import {
  type AgentNotification,
  countOf,
  describeOthers,
  givingWay,
  type NotificationFacts,
  othersAfter,
  othersTag,
  titleOf,
} from "./newest.ts";

/** What it uses of its global scope; the types of service workers and of pages exclude each other. */
interface WorkerScope {
  registration: {
    showNotification(title: string, options: ShowOptions): Promise<void>;
    getNotifications(): Promise<ShownNotification[]>;
  };
  clients: {
    matchAll(options: { type: "window"; includeUncontrolled: boolean }): Promise<WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  location: Location;
  /** Absent where an app has no icon to put a number on. */
  navigator: { setAppBadge?(count: number): Promise<void> };
  skipWaiting(): Promise<void>;
  addEventListener(type: "install", listener: () => void): void;
  addEventListener(type: "push", listener: (event: PushEvent) => void): void;
  addEventListener(type: "notificationclick", listener: (event: ClickEvent) => void): void;
}

interface ShowOptions extends NotificationOptions {
  data: NotificationFacts;
  /** Sounds again for the same agent. */
  renotify?: boolean;
}

interface ShownNotification extends AgentNotification {
  close(): void;
}

interface WindowClient {
  url: string;
  focus(): Promise<WindowClient>;
  navigate(url: string): Promise<unknown>;
}

interface ExtendableEvent {
  waitUntil(work: Promise<unknown>): void;
}

interface PushEvent extends ExtendableEvent {
  data: { json(): unknown } | null;
}

interface ClickEvent extends ExtendableEvent {
  notification: ShownNotification;
}

const scope = self as unknown as WorkerScope;

scope.addEventListener("install", () => void scope.skipWaiting());

/** One message after the other: two at once would count, and let give way, the same notifications. */
let newest = Promise.resolve();

scope.addEventListener("push", (event) => {
  const message = event.data?.json() as PushMessage | undefined;
  newest = newest.catch(() => {}).then(() => show(message));
  event.waitUntil(newest.then(showUnread));
});

scope.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.path ?? "/inbox"));
});

async function show(message: PushMessage | undefined): Promise<void> {
  if (message === undefined) return;
  const { title, body, tag, path } = message;
  const { registration } = scope;
  const before = await registration.getNotifications();
  const count = countOf(before, tag);
  const data = { path, at: Date.now(), title, count };
  await registration.showNotification(titleOf(title, count), { body, tag, data, icon, renotify: count > 1 });
  const closed = givingWay(await registration.getNotifications(), tag);
  const others = othersAfter(before, tag, closed);
  for (const old of closed) old.close();
  if (others.length > 0) {
    const group = describeOthers(others);
    const facts = { path: "/inbox", at: 0, others };
    await registration.showNotification(group.title, {
      ...{ body: group.body, tag: othersTag, data: facts, icon, silent: true },
    });
  } else for (const old of before.filter((one) => one.tag === othersTag)) old.close();
}

const icon = "/assets/icon.svg";

/** The number on the icon of the installed app. Where it cannot be read now, the next page shows it. */
async function showUnread(): Promise<void> {
  const { navigator } = scope;
  if (navigator.setAppBadge === undefined) return;
  const answer = await fetch("/v1/me/inbox", { headers: { accept: "application/json" } }).catch(() => null);
  if (answer?.ok) await navigator.setAppBadge(((await answer.json()) as Inbox).unread).catch(() => {});
}

/** In a window that is open already, if there is one. */
async function open(path: string): Promise<void> {
  const url = new URL(path, scope.location.origin);
  // What a notification opens is a page of this platform, whatever it says.
  if (url.origin !== scope.location.origin) return;
  const [window] = await scope.clients.matchAll({ type: "window", includeUncontrolled: true });
  if (!window) return void (await scope.clients.openWindow(url.href));
  const focused = await window.focus();
  if (focused.url !== url.href) await focused.navigate(url.href);
}
