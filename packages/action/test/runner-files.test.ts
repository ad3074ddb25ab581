// What a step prints is text for people: the runner finds none of its commands in it.
import { afterEach, expect, test, vi } from "vitest";
import { log } from "../src/runner-files.ts";

afterEach(() => vi.restoreAllMocks());

test.each([
  "::set-output name=usage::0",
  "  ::stop-commands::x",
  "Fine.\n::add-mask::e",
  "Fine.\r::add-mask::e",
  "##[set-output name=usage]0",
  // The runner looks for the older form anywhere in a line.
  "See ##[set-output name=usage]0",
])("%j is printed, and the runner does not take it as a command", (text) => {
  const printed: string[] = [];
  vi.spyOn(console, "log").mockImplementation((line: string) => void printed.push(line));
  log(text);
  const [line = ""] = printed;
  expect(line.replaceAll("\u200b", "")).toBe(text);
  expect(line.split(/[\r\n]/).filter((each) => each.trim().startsWith("::") || each.includes("##["))).toEqual([]);
});
