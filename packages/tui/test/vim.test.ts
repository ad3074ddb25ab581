// Keys as in vi, on the message.
import { expect, test } from "vitest";
import { emptyBuffer, leaveInsert, vimKey } from "../src/composer/index.ts";

/** The text after the keys, with the cursor as a bar. */
function after(text: string, keys: string): string {
  let step = leaveInsert({ ...emptyBuffer(text.replace("|", "")), cursor: text.indexOf("|") });
  for (const key of keys) step = vimKey(step.buffer, step.vim, key);
  const { buffer, vim } = step;
  return `${buffer.text.slice(0, buffer.cursor)}|${buffer.text.slice(buffer.cursor)} ${vim.mode}`;
}

test.each([
  ["one two|", "", "one tw|o normal"],
  ["one two|", "b", "one |two normal"],
  ["one two|", "0", "|one two normal"],
  ["one two|", "0w", "one |two normal"],
  ["one two|", "0e", "on|e two normal"],
  ["one two|", "0dw", "|two normal"],
  ["one two|", "0cw", "| two insert"],
  ["one two|", "0de", "| two normal"],
  ["one two|", "x", "one tw| normal"],
  ["one two|", "0D", "| normal"],
  ["one\ntwo|", "dd", "one\n| normal"],
  ["one|\ntwo", "dd", "|two normal"],
  ["one|\ntwo", "j", "one\ntw|o normal"],
  ["one two|", "0xp", "no|e two normal"],
  ["one two|", "I", "|one two insert"],
  ["one two|", "0A", "one two| insert"],
  ["one|\ntwo", "o", "one\n|\ntwo insert"],
  ["one|\ntwo", "O", "|\none\ntwo insert"],
  ["日本|", "h", "|日本 normal"],
  ["one|", "dz", "on|e normal"],
])("%j and %s give %j", (text, keys, expected) => {
  expect(after(text, keys)).toBe(expected);
});
