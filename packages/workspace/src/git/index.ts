// Git repositories, read from their files.
export {
  findCommonDirectory,
  findGitDirectory,
  findRepository,
  findRepositoryRoot,
  type GitHead,
  readHead,
  readHeadIn,
  readRegularFile,
} from "./repository.ts";
