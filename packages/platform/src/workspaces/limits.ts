// How much a repository may be, and how long it may take to get it.

export interface RepositoryLimits {
  /** Up to here a repository is taken whole: its history can be read where nothing can be fetched. */
  wholeBytes: number;
  /** Beyond wholeBytes contents of old commits stay away; beyond this the repository is refused. */
  mostBytes: number;
  /** Of the files of one commit, and their number. */
  checkoutBytes: number;
  checkoutFiles: number;
  fetchMs: number;
  /** For the list of branches. */
  answerMs: number;
}

const megabyte = 1024 * 1024;

export const usualLimits: RepositoryLimits = {
  wholeBytes: 512 * megabyte,
  mostBytes: 4096 * megabyte,
  checkoutBytes: 8192 * megabyte,
  checkoutFiles: 500_000,
  fetchMs: 15 * 60_000,
  answerMs: 45_000,
};
