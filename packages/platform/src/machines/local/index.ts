// Machines of this host: overlay layers, a user namespace, bubblewrap.

export { removeTree as removeMachineFiles, run as runProgram } from "../parts/index.ts";
export { type BuilderNamespace, inBuilderNamespace } from "./builder-namespace.ts";
export { hasLayer } from "./layers.ts";
export { type LocalOptions, openLocalProvider } from "./provider.ts";
