// Machines of this host: overlay layers, a user namespace, bubblewrap.
export { type LocalOptions, openLocalProvider } from "./provider.ts";
