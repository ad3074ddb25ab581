// Git repositories, read from their files.
export {
  type FoundRepository,
  findCommonDirectory,
  findGitDirectory,
  findRepository,
  findRepositoryRoot,
  type GitHead,
  readHead,
  readHeadIn,
  readRegularFile,
} from "./repository.ts";
