// Searches for the process behind a connection or a lookup: each reads tables of the kernel and the descriptors of all processes,
// beside everything else that the server inside does.

/** Beyond so many at once there is no search: the answer is empty, as for a process that is gone. */
export function openSearches(maxConcurrent: number): (search: () => Promise<string>) => Promise<string> {
  let underWay = 0;
  return async (search) => {
    if (underWay >= maxConcurrent) return "";
    underWay += 1;
    return search().finally(() => {
      underWay -= 1;
    });
  };
}
