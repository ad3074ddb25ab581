// Divides the limit of temporary files among the private directories of a sandbox, each of which is a file system of its own:
// together they must not hold more, also where no control group counts memory. Pure.

export interface TemporaryShares {
  /** What the others leave. */
  tmp: number;
  /** /var/tmp */
  varTmp: number;
  /** /dev/shm */
  shm: number;
  run: number;
  /** Of each copy of a repository. */
  repository: number;
}

export interface TemporaryUse {
  /** Copies of repositories. */
  repositories: number;
  varTmp: "private" | "absent";
}

/** The kernel counts pages, and takes 0 for no limit. */
const page = 4_096;

/** In bytes. */
export function shareTemporary(bytes: number, { repositories, varTmp }: TemporaryUse): TemporaryShares {
  const part = (of: number) => Math.max(page, Math.floor(bytes / of / page) * page);
  const shares = {
    varTmp: varTmp === "private" ? part(16) : 0,
    shm: part(8),
    run: part(32),
    repository: repositories === 0 ? 0 : part(4 * repositories),
  };
  const others = shares.varTmp + shares.shm + shares.run + shares.repository * repositories;
  return { tmp: Math.max(page, bytes - others), ...shares };
}
