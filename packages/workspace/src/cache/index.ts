// Build caches of sandboxed commands: one private directory per project, outside the user's home, shared with nothing else.
export { type BuildCache, clearCaches, listCaches, prepareCache } from "./directory.ts";
export { openSeed, type Seed } from "./seed.ts";
export { cacheVariables, temporaryCacheVariables } from "./variables.ts";
