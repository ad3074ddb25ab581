// Git on the host, prevented from running any other program.
export { type GitLocation, nowhere } from "./environment.ts";
export { RepositoryFault, type RepositoryFaultCode } from "./fault.ts";
export { copyObjects, formatOf, type Layout, layOut, packedReferences } from "./layout.ts";
export type { GitRemote } from "./remote.ts";
export {
  askGit,
  type GitCall,
  GitFailed,
  type GitResult,
  GitTookTooLong,
  gitSucceeds,
  runGit,
  startGit,
} from "./run.ts";
export { requireGit } from "./version.ts";
