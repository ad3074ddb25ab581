// Machines of this host: overlay layers, a user namespace, bubblewrap.
export { type BuilderNamespace, inBuilderNamespace } from "./builder-namespace.ts";
export { removeTree as removeMachineFiles, run as runProgram } from "./command.ts";
export { hasLayer } from "./layers.ts";
export { type LocalOptions, openLocalProvider } from "./provider.ts";
