// Files in the repositories of an agent that decide how it works: instructions, rules, hooks.
export { repositoryGuard } from "./guard.ts";
export { readHooks } from "./hooks.ts";
export { readInstructions } from "./instructions.ts";
export { hookWithHostPaths, hookWithSandboxPaths } from "./relocate-hooks.ts";
