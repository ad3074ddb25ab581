// Something that all tests of a file share: opened before the first of them, closed after the last.
import { afterAll, beforeAll } from "vitest";

/** For the top of a test file. The returned function is for its tests, and for hooks that come later. */
export function openForFile<Opened>(
  open: () => Promise<Opened>,
  close: (opened: Opened) => Promise<void>,
): () => Opened {
  let opened: { value: Opened } | undefined;
  beforeAll(async () => {
    opened = { value: await open() };
  });
  afterAll(() => opened && close(opened.value));
  return () => {
    if (!opened) throw new Error("This is opened before the first test. Use it within a test.");
    return opened.value;
  };
}
