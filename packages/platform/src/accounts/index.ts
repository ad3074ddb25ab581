// Who users of the platform are on source hosts.
export { reviewersOf } from "./store.ts";
