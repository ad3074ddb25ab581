// Agents of one member of a team, as the others may have them.
export { type Deed, relationOf } from "./rule.ts";
export { type Looked, openSharing, type SharedAgent, type Sharing } from "./sharing.ts";
