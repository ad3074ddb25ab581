// The service worker: shows notifications that arrive while no page is open, and opens the page that one is about. It caches nothing.
import type { PushMessage } from "@agentcli/protocol/api";
import { type AgentNotification, givingWay } from "./newest.ts";

/** What it uses of its global scope; the types of service workers and of pages exclude each other. */
interface WorkerScope {
  registration: {
    showNotification(title: string, options: NotificationOptions): Promise<void>;
    getNotifications(): Promise<ShownNotification[]>;
  };
  clients: {
    matchAll(options: { type: "window"; includeUncontrolled: boolean }): Promise<WindowClient[]>;
    openWindow(url: string): Promise<unknown>;
  };
  location: Location;
  skipWaiting(): Promise<void>;
  addEventListener(type: "install", listener: () => void): void;
  addEventListener(type: "push", listener: (event: PushEvent) => void): void;
  addEventListener(type: "notificationclick", listener: (event: ClickEvent) => void): void;
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

scope.addEventListener("push", (event) => event.waitUntil(show(event.data?.json() as PushMessage | undefined)));

scope.addEventListener("notificationclick", (event) => {
  event.notification.close();
  event.waitUntil(open(event.notification.data?.path ?? "/inbox"));
});

async function show(message: PushMessage | undefined): Promise<void> {
  if (message === undefined) return;
  const { title, body, tag, path } = message;
  const data = { path, at: Date.now() };
  await scope.registration.showNotification(title, { body, tag, data, icon: "/assets/icon.svg" });
  for (const old of givingWay(await scope.registration.getNotifications(), tag)) old.close();
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
