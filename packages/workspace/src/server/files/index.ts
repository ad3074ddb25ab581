// Looking at files: the read, list and search operations.
export { listDirectory } from "./list.ts";
export { readFiles } from "./read.ts";
export { searchFiles } from "./search.ts";
