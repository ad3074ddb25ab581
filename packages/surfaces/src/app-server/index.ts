// A thread as clients of the app server see it.
export { itemIdOf, shownCommand } from "./items.ts";
export type { Notice } from "./notice.ts";
export type { ViewOptions } from "./thread.ts";
export { type ThreadView, threadView } from "./view.ts";
