// Settings of a server, each with its origin.
export type { ModelSettings, Settings } from "./settings.ts";
