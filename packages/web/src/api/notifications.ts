// Notifications that a person need not read any more, because the page that they lead to is open.
export async function closeNotifications(tag: string): Promise<void> {
  if (!("serviceWorker" in navigator)) return;
  const registration = await navigator.serviceWorker.getRegistration("/").catch(() => undefined);
  const shown = (await registration?.getNotifications({ tag })) ?? [];
  for (const one of shown) one.close();
}

/** Of all agents that gave way; `othersTag` in push/newest.ts, a module of the service worker, which shares none with pages. */
export const closeOtherNotifications = (): Promise<void> => closeNotifications("others");
