// @ts-check
// Cuts a list into pages. Pages are counted from 1, as people read them.

/**
 * The items on one page.
 * @template T
 * @param {readonly T[]} items
 * @param {number} page
 * @param {number} size
 * @returns {T[]}
 */
export function itemsOnPage(items, page, size) {
  const first = (page - 1) * size;
  const last = first + size - 1;
  return items.slice(first, last);
}

/**
 * How many pages it takes to show everything.
 * @param {number} total
 * @param {number} size
 */
export function countPages(total, size) {
  return Math.ceil(total / size);
}

/**
 * The line under a list, such as "3 to 4 of 5".
 * @param {number} total
 * @param {number} page
 * @param {number} size
 */
export function describePage(total, page, size) {
  if (total === 0) return "nothing to show";
  const first = (page - 1) * size + 1;
  const last = Math.min(page * size, total);
  return `${first} to ${last} of ${total}`;
}
