// Names of hosts as addresses.
export { resolveName } from "./resolve.ts";
