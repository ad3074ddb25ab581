import { appendFileSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from "node:fs";
import type { ThreadRecord } from "@agentcli/protocol";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readCharges } from "../src/sessions/charges.ts";
import { addUp } from "../src/sessions/cost.ts";
import { begun, created, ended, replied, temporaryHome, writeSession } from "./session-files.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

const asked = (model: string, costUsd: number | null, inputTokens = 100): ThreadRecord => ({
  type: "model.replied",
  blocks: [{ type: "message", text: "hi" }],
  usage: { inputTokens, cachedInputTokens: 10, cacheWriteInputTokens: 0, outputTokens: 5, reasoningOutputTokens: 0 },
  model,
  costUsd,
});

const costs = (report: ReturnType<typeof addUp>) =>
  Object.fromEntries(
    report.groups.map(({ name, sum }) => [name, [sum.requests, sum.knownCostUsd, sum.unpricedRequests]]),
  );

describe("the cost of sessions", () => {
  test("is added up by model, the dearest first, and says what had no price", async () => {
    const home = await temporaryHome();
    const summary = { ...asked("small", 0.25), type: "context.compacted", upTo: 3, summary: "so far" } as ThreadRecord;
    writeSession(home, "/w", [begun("a", "/w"), asked("small", 0.25), summary, asked("large", 2), ended()]);
    writeSession(home, "/w", [begun("b", "/w", { turnId: "other" }), asked("large", null), replied("old"), ended()]);
    const report = addUp(home, 0, "model");
    expect(costs(report)).toEqual({ large: [2, 2, 1], small: [2, 0.5, 0], scripted: [1, 0, 1] });
    expect(report.groups.map(({ name }) => name)).toEqual(["large", "small", "scripted"]);
    expect(report.total).toMatchObject({ requests: 5, inputTokens: 401, knownCostUsd: 2.5, unpricedRequests: 2 });
    expect(report.problems).toEqual([]);
  });

  test("by tag counts a request under each of its tags, a sub-agent's under those of its parent, and once in all", async () => {
    const home = await temporaryHome();
    const tags = { team: "web", job: "nightly" };
    const parent = writeSession(home, "/w", [begun("a", "/w", { tags }), asked("m", 1), ended()]);
    const child = created("child", "/w", { parentId: parent.id });
    writeSession(home, "/w", [child, begun("b", "/w", { turnId: "b" }), asked("m", 2), ended()]);
    writeSession(home, "/w", [begun("c", "/w", { turnId: "c" }), asked("m", 4), ended()]);
    const report = addUp(home, 0, "tag");
    expect(costs(report)).toEqual({ "team=web": [2, 3, 0], "job=nightly": [2, 3, 0], "(no tag)": [1, 4, 0] });
    expect(report.total).toMatchObject({ requests: 3, knownCostUsd: 7 });
  });

  test("counts what a fork repeats only once", async () => {
    const home = await temporaryHome();
    const first = [begun("a", "/w", { turnId: "shared" }), asked("m", 1), ended()];
    const original = writeSession(home, "/w", first);
    const fork = created("fork", "/w", { forkedFrom: original.id });
    writeSession(home, "/w", [fork, ...first, begun("b", "/w", { turnId: "own" }), asked("m", 2), ended()]);
    expect(addUp(home, 0, "model").total).toMatchObject({ requests: 2, knownCostUsd: 3 });
  });

  test("leaves out what was asked before, and by day names the local date", async () => {
    const home = await temporaryHome();
    const { path } = writeSession(home, "/w", [begun("a", "/w"), asked("m", 1), ended()]);
    const line = JSON.parse(readFileSync(path, "utf8").split("\n")[3] ?? "");
    appendFileSync(path, `${JSON.stringify({ ...line, at: "2026-03-04T12:00:00.000Z" })}\n`);
    const since = Date.parse("2026-02-01T00:00:00Z");
    expect(costs(addUp(home, since, "day"))).toEqual({ "2026-03-04": [1, 1, 0] });
    expect(addUp(home, 0, "day").groups.map(({ name }) => name)).toEqual(["2026-01-02", "2026-03-04"]);
    utimesSync(path, 1, 1);
    expect(addUp(home, since, "day").total.requests).toBe(0);
  });

  test("skips damaged lines with a warning, and reads past a line that is still being written", async () => {
    const home = await temporaryHome();
    const sound = writeSession(home, "/w", [begun("a", "/w"), asked("m", 1), ended()], '{"v":1,"seq":9,"at":"20');
    const damaged = writeSession(home, "/w", [begun("b", "/w", { turnId: "b" }), asked("m", 2), ended()]);
    writeFileSync(damaged.path, damaged.text.replace('"costUsd":2', '"costUsd":"two"').replaceAll("\n", "\r\n"));
    mkdirSync(sound.path.replace(sound.id, "0".repeat(36)));
    const report = addUp(home, 0, "model");
    expect(costs(report)).toEqual({ m: [1, 1, 0] });
    expect(report.problems.join(" ")).toContain(`${damaged.path}: 1 damaged line was skipped.`);
    expect(report.problems).toHaveLength(2);
  });

  test("of any file is read without a crash", async () => {
    const home = await temporaryHome();
    const { path, text } = writeSession(home, "/w", [begun("a", "/w"), asked("m", 1), ended()]);
    const piece = fc.oneof(fc.string(), fc.json(), fc.constantFrom(...text.split("\n")), fc.constant("null"));
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12 }), fc.nat(text.length), (pieces, cut) => {
        writeFileSync(path, `${pieces.join("\n")}\n${text.slice(0, cut)}`);
        const { charges } = readCharges(path);
        expect(charges.every(({ usage }) => Number.isFinite(usage.inputTokens))).toBe(true);
      }),
      runs,
    );
  });
});
