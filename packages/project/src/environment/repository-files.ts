// The files of a repository that say how it is prepared.
export interface RepositoryFiles {
  /** Of all files that may matter, relative to the root. */
  paths: string[];
  /** Undefined: it cannot be read. */
  read(path: string): string | undefined;
}

/** Directories whose own files matter, relative to the root. */
export const directoriesThatMatter = [".", ".github/workflows", ".devcontainer", ".platform"];
