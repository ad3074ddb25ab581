// Files of project, user and administrator that a local agent works with, from the sources it may read.
export { hookSearch, readHooks } from "./hooks.ts";
export { readInstructions, userSkills } from "./instructions.ts";
export { type NamedServer, secretsOf, serversOf } from "./servers.ts";
