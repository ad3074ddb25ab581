import { expect, test } from "vitest";
import { openScreen } from "../src/terminal/index.ts";

const erased = "\u001b[K";

function written(committed: string[], columns: number): string {
  let all = "";
  const write = (text: string) => {
    all += text;
  };
  openScreen({ write, columns, rows: 24 }).draw({ committed, live: ["live"], cursor: { row: 0, column: 0 } });
  return all;
}

test.each([
  ["of plain text", "x".repeat(20)],
  ["with a tab", `a\t${"x".repeat(12)}`],
  ["with a tab beyond the last stop", `${"x".repeat(17)}\tx`],
  ["with a tab after the wrap", `${"x".repeat(20)}a\t${"x".repeat(12)}`],
  ["of wide characters", "日".repeat(10)],
])("nothing is erased after a row %s that ends in the last column, where some terminals would erase it", (_, row) => {
  expect(written([row], 20)).toContain(`${row}\r\n`);
  expect(written([row.slice(0, -1)], 20)).toContain(`${row.slice(0, -1)}${erased}\r\n`);
});
