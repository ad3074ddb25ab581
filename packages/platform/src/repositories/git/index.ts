// Git on the host, prevented from running any other program.
export {
  commitText,
  isCommittedBy,
  isSigned,
  messageOf,
  type ParsedCommit,
  type Person,
  parseCommit,
  rewriteCommit,
  valuesOf,
} from "./commit-object.ts";
export { damagedObject, localFailure } from "./damage.ts";
export { type GitLocation, nowhere } from "./environment.ts";
export { RepositoryFault, type RepositoryFaultCode } from "./fault.ts";
export { commitOfIndex, copyIndex, noteCommitOfIndex, replaceIndex } from "./index-file.ts";
export { copyObjects, formatOf, type Layout, layOut, packedReferences } from "./layout.ts";
export { entriesOf, type GitObject, readLooseObject } from "./loose-object.ts";
export { formatPack, type Pack } from "./pack.ts";
export { listReferences, readReferences, writeReference } from "./references.ts";
export type { GitRemote } from "./remote.ts";
export {
  askGit,
  type GitCall,
  GitFailed,
  type GitResult,
  GitTookTooLong,
  GitWroteTooMuch,
  gitSucceeds,
  maxOutputBytes,
  type RunningGit,
  runGit,
  startGit,
} from "./run.ts";
export { requireGit } from "./version.ts";
export { type CommitSigner, readLooseCommit, writeSigned } from "./write-commit.ts";
