// File descriptors that a sandboxed process must not inherit.
export { inheritedDescriptors } from "./inherited.ts";
