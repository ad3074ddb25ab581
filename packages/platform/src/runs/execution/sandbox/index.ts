// The sandboxes that agents work in.
export { probeForAgents } from "./probe.ts";
export { artifactsDirectory, openSandboxes, type Sandboxes } from "./sandboxes.ts";
