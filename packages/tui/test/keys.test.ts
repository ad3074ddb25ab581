import { expect, test } from "vitest";
import { type Input, openKeyReader } from "../src/terminal/index.ts";

function read(...chunks: string[]): Input[] {
  const inputs: Input[] = [];
  const reader = openKeyReader((input) => inputs.push(input));
  for (const chunk of chunks) reader.push(chunk);
  if (reader.isWaiting()) reader.flush();
  return inputs;
}

const key = (name: string, more = {}) => ({ kind: "key", name, ctrl: false, alt: false, shift: false, ...more });

test("a sequence that arrives in pieces is one key, and one that ends wrongly loses nothing after it", () => {
  expect(read("\u001b", "[1;", "5D")).toEqual([key("left", { ctrl: true })]);
  expect(read(`\u001b[99日本${"x".repeat(80)}`)).toEqual([{ kind: "text", text: `日本${"x".repeat(80)}` }]);
});

test("Escape alone is a key, and Alt and new protocols of terminals are understood", () => {
  expect(read("\u001b")).toEqual([key("escape")]);
  expect(read("\u001bb\u001b[13;2u\u001b[99;5u\u001b[27;2;13~\u001b[Z")).toEqual([
    key("b", { alt: true }),
    key("enter", { shift: true }),
    key("c", { ctrl: true }),
    key("enter", { shift: true }),
    key("tab", { shift: true }),
  ]);
});

test("a paste is one input, with or without brackets", () => {
  expect(read("\u001b[200~a\r\nb", "c\u001b[201~d")).toEqual([
    { kind: "paste", text: "a\nbc" },
    { kind: "text", text: "d" },
  ]);
  expect(read("first line here\rsecond line\r")).toEqual([{ kind: "paste", text: "first line here\nsecond line\n" }]);
});

test("what the terminal reports about itself is ignored", () => {
  expect(read("\u001b[?62;4c\u001b]11;rgb:0/0/0\u0007\u001b[<0;1;1Mx")).toEqual([{ kind: "text", text: "x" }]);
});
