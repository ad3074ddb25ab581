// Git on the host, kept from running anything but itself.
export { type GitPlace, nowhere } from "./environment.ts";
export { RepositoryFault, type RepositoryFaultCode } from "./fault.ts";
export { copyObjects, formatOf, type Layout, layOut, packedReferences } from "./layout.ts";
export type { GitRemote } from "./remote.ts";
export {
  askGit,
  type GitAnswer,
  type GitCall,
  GitFailed,
  GitTookTooLong,
  gitSucceeds,
  runGit,
  startGit,
} from "./run.ts";
export { requireGit } from "./version.ts";
