// @ts-check
import assert from "node:assert/strict";
import { test } from "node:test";
import { countPages, describePage, itemsOnPage } from "../src/paging.js";

const letters = ["a", "b", "c", "d", "e"];

test("a page holds as many items as its size", () => {
  assert.deepEqual(itemsOnPage(letters, 2, 2), ["c", "d"]);
});

test("a page after the last one is empty", () => {
  assert.deepEqual(itemsOnPage(letters, 4, 2), []);
});

test("a page that is not full still counts", () => {
  assert.equal(countPages(5, 2), 3);
  assert.equal(countPages(4, 2), 2);
  assert.equal(countPages(0, 2), 0);
});

test("the line under a list names the items shown", () => {
  assert.equal(describePage(5, 2, 2), "3 to 4 of 5");
  assert.equal(describePage(5, 3, 2), "5 to 5 of 5");
  assert.equal(describePage(0, 1, 2), "nothing to show");
});
