import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { takeLock } from "@agentcli/host";
import { readNames, removeSession, scanSession, writeName } from "@agentcli/host/session-files";
import { openFileStore } from "@agentcli/host/sessions";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { ageMs } from "../src/sessions/age.ts";
import { findByReference, findThread, matchThreads } from "../src/sessions/find.ts";
import { listSessions } from "../src/sessions/list.ts";
import { toMarkdown } from "../src/sessions/markdown.ts";
import { parseTags } from "../src/sessions/tags.ts";
import { begun, created, ended, numbered, replied, sandboxNote, temporaryHome, writeSession } from "./session-files.ts";

const runs = Number(process.env.FUZZ_RUNS ?? 200);
const everywhere = { in: "everywhere" } as const;
const json = (value: unknown) => JSON.stringify(value);
const list = (home: string) => [...listSessions(home, everywhere)];
const id = (last: string) => `0198c0de-0000-7000-8000-${last.padStart(12, "0")}`;

describe("a session in a list", () => {
  test("shows the first prompt, the newest settings and tags, and how the last turn ended", async () => {
    const home = await temporaryHome();
    writeSession(home, "/first", [
      begun("  fix\n\tthe \u001b[31mtest ", "/first", { tags: { team: "web" } }),
      replied("Done."),
      ended(),
      sandboxNote,
      begun("again", "/second", { tags: { team: "api" } }),
      replied("x".repeat(700_000)),
      ended({ status: "failed", code: "network", message: "no" }),
    ]);
    expect(list(home)).toMatchObject([
      { prompt: "fix the [31mtest", cwd: "/second", tags: { team: "api" }, status: "failed", model: "scripted" },
    ]);
  });

  test("is interrupted where its turn never ended, and running while a process writes it", async () => {
    const home = await temporaryHome();
    const { path } = writeSession(home, "/a", [begun("go", "/a"), replied("on it")]);
    expect(list(home)).toMatchObject([{ status: "interrupted" }]);
    const attempt = takeLock(`${path}.lock`);
    expect(list(home)).toMatchObject([{ status: "running" }]);
    if (attempt.kind === "held") attempt.lock.release();
  });

  test("with an image before the text shows the text", async () => {
    const home = await temporaryHome();
    const url = `data:image/png;base64,${"A".repeat(3_000_000)}`;
    const input = [
      { type: "image" as const, url },
      { type: "text" as const, text: "what is this?" },
    ];
    writeSession(home, "/a", [begun("", "/a", { input }), ended()]);
    expect(list(home)).toMatchObject([{ prompt: "what is this?", status: "completed" }]);
  });

  test("is not misled by tool arguments", async () => {
    const home = await temporaryHome();
    const lie = JSON.parse(`{"record":${JSON.stringify(begun("a lie", "/lie"))}}`);
    const text = numbered([begun("a lie", "/lie")])
      .map((line) => JSON.stringify(line))
      .join("");
    writeSession(home, "/a", [
      begun("the truth", "/truth"),
      { type: "tool.begun", callId: "4.0", name: "x", args: lie, incarnation: "i", onResume: "once" },
      replied(`${text}\n${text}`),
      ended(),
    ]);
    expect(list(home)).toMatchObject([{ cwd: "/truth" }]);
  });

  test("keeps its end where notes follow it", async () => {
    const home = await temporaryHome();
    writeSession(home, "/a", [begun("x", "/a"), ended(), sandboxNote, sandboxNote]);
    expect(list(home)).toMatchObject([{ status: "completed" }]);
  });

  test("is found wherever its latest turn lies in the file", async () => {
    const home = await temporaryHome();
    const blockBytes = 256 * 1024;
    for (let shift = 0; shift < 60; shift += 1) {
      const after = replied("x".repeat(blockBytes - 500 + 10 * shift));
      const { path } = writeSession(home, "/a", [begun("x", "/a"), ended(), begun("y", "/b"), after]);
      expect(scanSession(path)?.lastTurn?.settings.cwd).toBe("/b");
      removeSession(path);
    }
  });

  test("of a sub-agent is left out", async () => {
    const home = await temporaryHome();
    writeSession(home, "/a", [created(id("1"), "/a", { parentId: id("2") }), begun("x", "/a"), ended()]);
    expect(list(home)).toEqual([]);
  });

  test("that does not begin as one is listed as damaged everywhere and never resumed", async () => {
    const home = await temporaryHome();
    const { path } = writeSession(home, "/a", [begun("x", "/a"), ended()]);
    writeFileSync(path, "garbage\n");
    expect(list(home)).toMatchObject([{ status: "damaged" }]);
    expect(() => findThread({ by: "last", anywhere: true }, { home, cwd: "/a", warn: () => {} })).toThrow(
      "There is no session to resume",
    );
  });

  test("is read from its ends wherever a crash or a writer cut it short", async () => {
    const home = await temporaryHome();
    const { path, text } = writeSession(home, "/a", [begun("é is cut", "/a"), replied("ü"), ended(), sandboxNote]);
    const bytes = Buffer.from(text);
    fc.assert(
      fc.property(fc.nat(bytes.length), (length) => {
        writeFileSync(path, bytes.subarray(0, length));
        const scan = scanSession(path);
        const lines = bytes.subarray(0, length).toString().split("\n").length - 1;
        expect(scan !== null).toBe(lines >= 1);
        expect(scan?.lastTurn != null).toBe(lines >= 3);
        expect(scan?.end != null).toBe(lines >= 5);
      }),
      { numRuns: runs },
    );
  });

  test("full of anything never breaks the list", async () => {
    const home = await temporaryHome();
    const { path } = writeSession(home, "/a", [begun("x", "/a"), ended()]);
    const any = fc.jsonValue();
    const cwdRecord = fc.oneof(any, fc.record({ cwd: any }, { requiredKeys: [] }));
    const record = fc.record(
      {
        type: fc.constantFrom("thread.created", "turn.begun", "turn.ended", "noted"),
        threadId: any,
        settings: cwdRecord,
        input: fc.oneof(any, fc.array(any)),
        end: fc.oneof(any, fc.record({ status: any })),
      },
      { requiredKeys: ["type"] },
    );
    const half = fc.record({ v: fc.constant(1), seq: fc.nat(), at: fc.constant("2026"), record }).map(json);
    const line = fc.oneof(fc.string(), fc.json(), half, fc.constantFrom(...readFileSync(path, "utf8").split("\n")));
    fc.assert(
      fc.property(fc.array(line), (lines) => {
        writeFileSync(path, lines.join("\n"));
        expect(list(home).length).toBeLessThanOrEqual(1);
      }),
      { numRuns: runs },
    );
  });
});

describe("which session is meant", () => {
  test("the newest is the one whose latest turn was here, by the real path", async () => {
    const home = await temporaryHome();
    const [here, elsewhere, link] = ["here", "elsewhere", "link"].map((name) => join(home, name)) as [
      string,
      string,
      string,
    ];
    for (const directory of [here, elsewhere]) mkdirSync(directory);
    symlinkSync(here, link);
    const moved = writeSession(home, elsewhere, [begun("a", elsewhere), ended(), begun("b", here), ended()]);
    const newer = writeSession(home, here, [begun("a", here), ended(), begun("b", elsewhere), ended()]);
    utimesSync(newer.path, new Date(), new Date(Date.now() + 10_000));
    expect(findThread({ by: "last", anywhere: false }, { home, cwd: link, warn: () => {} })).toBe(moved.id);
    expect(findThread({ by: "last", anywhere: true }, { home, cwd: link, warn: () => {} })).toBe(newer.id);
  });

  test("a run in a worktree belongs to the directory it was started in", async () => {
    const home = await temporaryHome();
    const worktree = { path: "/w", startedIn: "/repository", branch: "b", base: "c" };
    writeSession(home, "/w", [created(id("7"), "/w", { worktree }), begun("a", "/w"), ended()]);
    expect(findThread({ by: "last", anywhere: false }, { home, cwd: "/repository", warn: () => {} })).toBe(id("7"));
  });

  test("an id, the beginning of one, or a name", async () => {
    const home = await temporaryHome();
    for (const last of ["1", "2"]) writeSession(home, "/a", [created(id(last), "/a"), begun("x", "/a"), ended()]);
    writeName(home, id("2"), "nightly");
    expect(findByReference(id("1"), home)).toBe(id("1"));
    expect(findByReference("nightly", home)).toBe(id("2"));
    expect(findByReference(id("2").slice(0, 36), home)).toBe(id("2"));
    expect(() => findByReference("0198c0de", home)).toThrow(/matches 2 sessions. Give more of[\s\S]*000000000001/);
    writeName(home, id("1"), "nightly");
    expect(() => findByReference("nightly", home)).toThrow(
      /matches 2 sessions. Give the id of one:[\s\S]*000000000002/,
    );
    writeName(home, id("1"), "daily");
    expect(matchThreads("0198C0DE-0000", home)).toHaveLength(2);
    for (const unknown of ["0198c0d", "nightl", id("3"), "Nightly", "../../etc"]) {
      expect(() => findByReference(unknown, home)).toThrow(`There is no session ${unknown}`);
    }
  });

  test("one that is removed while it is resumed is not created again", async () => {
    const home = await temporaryHome();
    const { id: gone, path } = writeSession(home, "/a", [begun("x", "/a"), ended()]);
    expect(removeSession(path)).toEqual({ kind: "removed" });
    expect(() => openFileStore(home).claim(gone)).toThrow("has just been removed");
    expect(existsSync(path)).toBe(false);
  });
});

describe("names", () => {
  test("the last one given counts, and a line cut short is passed over", async () => {
    const home = await temporaryHome();
    writeName(home, id("1"), "first");
    appendFileSync(join(home, "session_index.jsonl"), '{"id":"x","thread_na');
    writeName(home, id("1"), "second");
    expect(readNames(home)).toEqual(new Map([[id("1"), "second"]]));
    expect(readFileSync(join(home, "session_index.jsonl"), "utf8").split("\n")).toHaveLength(4);
  });

  test("an invalid name is refused", async () => {
    const home = await temporaryHome();
    for (const name of ["", " x", "a\nb", "x".repeat(201)])
      expect(() => writeName(home, id("2"), name)).toThrow("1 to 200");
  });

  test("whatever the index holds, it is read", async () => {
    const home = await temporaryHome();
    fc.assert(
      fc.property(fc.array(fc.oneof(fc.string(), fc.json())), (lines) => {
        writeFileSync(join(home, "session_index.jsonl"), lines.join("\n"));
        expect(readNames(home)).toBeInstanceOf(Map);
      }),
      { numRuns: runs },
    );
  });
});

describe("removing", () => {
  test("refuses a session in use and takes one whose writer is dead", async () => {
    const home = await temporaryHome();
    const { path } = writeSession(home, "/a", [begun("x", "/a"), ended()]);
    const attempt = takeLock(`${path}.lock`);
    expect(removeSession(path)).toEqual({ kind: "in-use", pid: process.pid });
    if (attempt.kind === "held") attempt.lock.release();
    writeFileSync(`${path}.lock`, JSON.stringify({ pid: 2 ** 22 + 1, startedAt: "1" }));
    expect(removeSession(path)).toEqual({ kind: "removed" });
    expect([existsSync(path), existsSync(`${path}.lock`)]).toEqual([false, false]);
  });

  test("an age is a number and a unit", () => {
    expect([...["45m", "12h", "1.5d", "2w"].map((text) => ageMs("older-than", text))]).toEqual([
      2_700_000, 43_200_000, 129_600_000, 1_209_600_000,
    ]);
    for (const wrong of ["30", "d", "30 d", "-1d", "1y"])
      expect(() => ageMs("older-than", wrong)).toThrow(`--older-than ${wrong}`);
  });
});

test("tags are key=value, the last of a kind counts, everything else is refused", () => {
  expect(parseTags(["team=web", "run.id=a=b", "empty=", "team=api"])).toEqual({
    team: "api",
    "run.id": "a=b",
    empty: "",
  });
  for (const wrong of ["team", "=x", "a b=c", "a=b\nc", `${"k".repeat(65)}=v`]) {
    expect(() => parseTags([wrong])).toThrow("expected key=value");
  }
});

test("a thread as Markdown has prompt, commands, files and the end, and no output breaks out of its fence", () => {
  const call = {
    type: "call",
    wireId: "c",
    name: "exec_command",
    form: "function",
    input: '{"cmd":"cat a.md"}',
  } as const;
  const records = numbered([
    created(id("1"), "/a", { forkedFrom: id("2") }),
    sandboxNote,
    begun("look\nat it", "/a", { tags: { team: "web" } }),
    { ...replied(""), blocks: [call] } as ReturnType<typeof replied>,
    {
      type: "tool.begun",
      callId: "4.0",
      name: "exec_command",
      args: { cmd: "cat a.md" },
      incarnation: "i",
      onResume: "once",
    },
    {
      type: "tool.settled",
      callId: "4.0",
      outcome: {
        status: "completed",
        parts: [],
        detail: { kind: "command", output: "```\n# no heading\n````\n", exitCode: 0, cursor: 0, durationMs: 1 },
      },
    },
    replied("It is short."),
    ended(),
  ]);
  const text = toMarkdown(records);
  for (const part of [
    `# Session ${id("1")}`,
    `Forked from: ${id("2")}`,
    "> look\n> at it",
    "team=web",
    "It is short.",
    "exit code 0",
  ]) {
    expect(text).toContain(part);
  }
  expect(text).toContain("`````\n$ /bin/sh -lc 'cat a.md'\n```\n# no heading\n````\n`````");
});

test("a file that shrinks while it is read does no harm", async () => {
  const home = await temporaryHome();
  const { path } = writeSession(home, "/a", [begun("x", "/a"), ended()]);
  truncateSync(path, 0);
  expect(scanSession(path)).toBeNull();
});
