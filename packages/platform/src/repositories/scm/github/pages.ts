// Lists of GitHub's API come in pages.

const pageSize = 100;

/** Reads pages until one is not full. */
export async function readPages<T>(read: (page: { per_page: number; page: number }) => Promise<T[]>): Promise<T[]> {
  const all: T[] = [];
  for (let page = 1; ; page += 1) {
    const items = await read({ per_page: pageSize, page });
    all.push(...items);
    if (items.length < pageSize) return all;
  }
}
