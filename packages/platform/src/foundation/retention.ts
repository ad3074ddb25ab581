// Data that is not kept for good, as a value: what is removed, in batches.

/** One kind of data that is not kept for good. */
export interface RetentionRule {
  /** What is removed, in the plural, as the log and the metrics name it. */
  name: string;
  /** What it removes is there: each data directory has a server that applies it. Absent: any server can. */
  in?: "data directory";
  /**
   * Removes everything that is due, in batches small enough to disturb no request, and yields after each how many it
   * removed. May be killed at any point: the next call continues. Only one server of a database, or of a data directory, calls it
   * at a time.
   */
  remove(): AsyncIterable<number>;
}

/** Repeats a batch until it finds nothing to remove. */
export async function* inBatches(removeBatch: () => Promise<number>): AsyncGenerator<number> {
  for (let count = await removeBatch(); count > 0; count = await removeBatch()) yield count;
}
