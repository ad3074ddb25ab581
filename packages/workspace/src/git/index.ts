// Git repositories, read from their files.
export {
  findCommonDirectory,
  findGitDirectory,
  findRepositoryRoot,
  type GitHead,
  readHead,
  readRegularFile,
} from "./repository.ts";
