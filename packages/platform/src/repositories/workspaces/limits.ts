// Limits on the size of a repository and on the time to fetch it.

export interface RepositoryLimits {
  /** Repositories up to this size are fetched completely, so that their history can be read offline. */
  wholeBytes: number;
  /** Above wholeBytes the fetch is partial: files of old commits are left out. Above this limit the repository is refused. */
  maxBytes: number;
  /** Total size and number of the files of one commit. */
  checkoutBytes: number;
  checkoutFiles: number;
  fetchMs: number;
  /** Time limit for listing the references. */
  answerMs: number;
}

const megabyte = 1024 * 1024;

export const defaultLimits: RepositoryLimits = {
  wholeBytes: 512 * megabyte,
  maxBytes: 4096 * megabyte,
  checkoutBytes: 8192 * megabyte,
  checkoutFiles: 500_000,
  fetchMs: 15 * 60_000,
  answerMs: 45_000,
};
