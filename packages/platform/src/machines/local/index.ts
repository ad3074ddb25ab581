// Machines of this host: overlay layers, a user namespace, bubblewrap.
export { run as runProgram } from "./command.ts";
export { type LocalOptions, openLocalProvider } from "./provider.ts";
