// What the notifications of new and waiting runs say.

const withoutWorker = "host:";

/** Names the run: of equal notifications of one transaction the database sends one. */
export const noticeOfRun = ({ id, needsWorker }: { id: string; needsWorker: boolean }): string =>
  needsWorker ? id : `${withoutWorker}${id}`;

/** How many runs it announces. An empty one announces any number: those whose workers have been assigned. */
export const runsIn = (notice: string): number => (notice === "" ? Number.POSITIVE_INFINITY : 1);

/** Whether a worker may have to be assigned. */
export const concernsWorkers = (notice: string): boolean => notice !== "" && !notice.startsWith(withoutWorker);
