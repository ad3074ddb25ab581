// edit_file and edit_notebook: the same approvals, records and items as a patch, and offered by model.
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openServer } from "@agentcli/workspace";
import { expect, onTestFinished, test } from "vitest";
import { execEvents } from "../../surfaces/src/exec-jsonl.ts";
import { builtInTools, drive, freeze, policyGuard, type StoredRecord, writableRootsGuard } from "../src/index.ts";
import { calls, openHarness, replies, settings, textReply } from "./thread-harness.ts";

async function runCall(
  name: string,
  args: object,
  more: Parameters<Awaited<ReturnType<typeof openHarness>>["begin"]>[1] = {},
) {
  const root = mkdtempSync(join(tmpdir(), "edit-tools-"));
  writeFileSync(join(root, "a.txt"), "one\ntwo\n");
  const env = { PATH: process.env.PATH ?? "", HOME: root };
  const workspace = await openServer({ root, writable: "anywhere", env, orphans: "ended-by-watchdog" });
  onTestFinished(async () => {
    await workspace.close();
    rmSync(root, { recursive: true });
  });
  const stored: StoredRecord[] = [];
  const script = [replies([calls(name, args)]), textReply("Done.")];
  const thread = await openHarness((_, number) => script[number] ?? textReply("?"), workspace, {
    emit: (each) => stored.push(each),
  });
  thread.dependencies.guard = writableRootsGuard([root], policyGuard);
  await thread.begin("go", { cwd: root, ...more });
  await drive(thread.log, thread.dependencies, new AbortController().signal);
  const message = thread.requests[1]?.messages.at(-1);
  const part = message?.role === "tool" ? message.parts[0] : undefined;
  const items = stored.flatMap(execEvents()).flatMap((event) => ("item" in event ? [event.item] : []));
  return {
    answer: part?.type === "text" ? part.text : "",
    items,
    text: () => readFileSync(join(root, "a.txt"), "utf8"),
  };
}

const edit = { path: "a.txt", old_string: "two", new_string: "2" };

test("edit_file answers and is shown as a patch is", async () => {
  const { answer, items, text } = await runCall("edit_file", edit);
  expect(text()).toBe("one\n2\n");
  expect(answer).toMatch(
    /^Exit code: 0\nWall time: .*\nOutput:\nSuccess\. Updated the following files:\nM a\.txt\n\na\.txt: changed lines 2\n$/,
  );
  const changes = [{ path: "a.txt", kind: "update" }];
  expect(items).toContainEqual(expect.objectContaining({ type: "file_change", changes, status: "completed" }));
});

test("edit_file creates a file with an empty old_string, and does not overwrite one", async () => {
  const made = await runCall("edit_file", { path: "new.txt", old_string: "", new_string: "x\n" });
  expect(made.answer).toContain("A new.txt\n");
  const refused = await runCall("edit_file", { path: "a.txt", old_string: "", new_string: "x\n" });
  expect(refused.answer).toContain("Failed to add a.txt: it exists already");
  expect(refused.text()).toBe("one\ntwo\n");
});

test.each(["edit_file", "edit_notebook"])("%s is declined where a patch is", async (name) => {
  const args = name === "edit_file" ? edit : { path: "a.ipynb", action: "delete", cell: 0 };
  const readOnly = await runCall(name, args, { sandbox: "read-only" });
  expect(readOnly.answer).toContain("patch rejected: writing is blocked by read-only sandbox");
  expect(readOnly.text()).toBe("one\ntwo\n");
  const outside = await runCall(name, { ...args, path: "/etc/agentcli-test" }, { approval: "on-request" });
  expect(outside.answer).toContain("patch rejected: /etc/agentcli-test is outside of what may be written");
  expect(readOnly.items).toContainEqual(expect.objectContaining({ type: "file_change", status: "declined" }));
});

test("edit_file is offered to models that are not trained to write patches, beside apply_patch", () => {
  const environment = { date: "", timezone: "", writableRoots: [], network: false, rules: [], catalogues: [] };
  const frozen = (stringEdits: boolean) =>
    freeze(settings, environment, builtInTools, { freeformTools: false, stringEdits });
  const names = (stringEdits: boolean) => frozen(stringEdits).tools.map(({ name }) => name);
  expect(names(true)).toEqual(expect.arrayContaining(["apply_patch", "edit_file", "edit_notebook"]));
  expect(names(false)).not.toContain("edit_file");
  expect(frozen(true).instructions).toContain("Edit files with edit_file");
  expect(frozen(false).instructions).toContain("Edit files with apply_patch.");
});
