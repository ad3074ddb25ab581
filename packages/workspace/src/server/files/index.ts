// The read, list and search operations.
export { errnoOf, pathFaultOf } from "./fault.ts";
export { listDirectory } from "./list.ts";
export { readFiles } from "./read.ts";
export { kindFault, readRegular } from "./regular.ts";
export { searchFiles } from "./search.ts";
