import { expect, test } from "vitest";
import { jsonLines, parseScript, temporaryRepository } from "../src/index.ts";

test("a mistake in a script is reported with its path", () => {
  const script = [{ messages: ["fine"] }, { calls: [{ name: 1, arguments: {} }] }, { status: "429" }, { sayy: "hi" }];
  expect(() => parseScript(script)).toThrowError(
    /replies\.1\.calls\.0\.name: .*string[\s\S]*replies\.2\.status: .*number[\s\S]*replies\.3: .*"sayy"/,
  );
});

test("a value that is not a script is refused", () => {
  expect(() => parseScript("hello")).toThrowError(/script file: /);
  expect(() => parseScript({ replies: [], repeat: "sometimes" })).toThrowError(/script repeat: /);
});

test("JSON lines are parsed, blank lines skipped, and a bad line is named", () => {
  expect(jsonLines('{"a":1}\n\n[2]\n')).toEqual([{ a: 1 }, [2]]);
  expect(() => jsonLines('{"a":1}\noops')).toThrowError(/line 2 .*oops/);
});

test("a temporary repository has one commit on main and can be removed", async () => {
  const repository = await temporaryRepository({ "src/a.txt": "A\n" });
  try {
    expect(await repository.git("log", "--format=%s", "main")).toBe("First commit\n");
    expect(await repository.git("ls-files")).toBe("src/a.txt\n");
  } finally {
    await repository.remove();
  }
  await expect(repository.git("status")).rejects.toThrow();
});
