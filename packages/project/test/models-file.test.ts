import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { temporaryDirectory } from "@agentcli/testkit";
import { expect, onTestFinished, test } from "vitest";
import { readModelsFile } from "../src/config/models-file.ts";

async function read(text: string) {
  const directory = await temporaryDirectory();
  onTestFinished(() => directory.remove());
  const path = join(directory.path, "models.toml");
  writeFileSync(path, text);
  return readModelsFile(path);
}

test("models.toml says what is known of models, by name", async () => {
  expect(await read('["my-model"]\ncontext_window = 65_536\nthinking = "none"\ninput = 0.4\n')).toEqual({
    "my-model": { context_window: 65_536, thinking: "none", input: 0.4 },
  });
});

test.each([
  ["an unknown key", '# models\n["a"]\nimages = true\ncontext_windows = 1\n', 4, "did you mean context_window?"],
  ["a wrong type", '["a"]\n\ncontext_window = "large"\n', 3, "a.context_window must be integer, not text"],
  ["a negative price", '["a"]\ninput = 1\n["b"]\ninput = -1\n', 4, "b.input must be 0 or more, not -1"],
  ["an unknown way of thinking", 'a.thinking = "slow"\n', 1, "must be one of adaptive, extended, none"],
  ["a number instead of a table", "a = 3\n", 1, "a must be a table, not a number"],
  ["broken TOML", '["a"]\nimages = true\nimages = \n', 3, ""],
])("%s is an error with its line", async (_, text, line, reason) => {
  await expect(read(text)).rejects.toMatchObject({
    name: "ConfigError",
    message: expect.stringMatching(new RegExp(`models\\.toml line ${line}: .*${reason.replace(/[?.]/g, "\\$&")}`)),
  });
});
