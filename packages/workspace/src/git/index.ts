// Git repositories, read from their files.
export { fingerprintRepository, type GitDirectories } from "./fingerprint.ts";
export {
  findCommonDirectory,
  findGitDirectory,
  findRepositoryRoot,
  type GitHead,
  readHead,
  readRegularFile,
} from "./repository.ts";
