import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { readReview, renderReview, reviewSchema } from "../src/review/index.ts";

const runs = { numRuns: Number(process.env.FUZZ_RUNS ?? 200) };

const finding = (title: string, more: object = {}) => ({
  title,
  body: "It divides by zero\nwhen the list is empty.",
  confidence_score: 0.9,
  priority: 1,
  code_location: { absolute_file_path: "/x/a.py", line_range: { start: 1, end: 2 } },
  ...more,
});

const review = (...findings: object[]) => ({
  findings,
  overall_correctness: "patch is incorrect",
  overall_explanation: "One path breaks.",
  overall_confidence_score: 0.8,
});

const rendered = (answer: unknown, coverage: string | null = null) =>
  renderReview(readReview(typeof answer === "string" ? answer : JSON.stringify(answer)), coverage);

describe("a review as text", () => {
  test("has the explanation and one comment with its location", () => {
    expect(rendered(review(finding("Empty list")))).toBe(
      "One path breaks.\n\nReview comment:\n\n- [P1] Empty list — /x/a.py:1-2\n  It divides by zero\n  when the list is empty.",
    );
  });

  test("has several comments, the most urgent first", () => {
    const text = rendered(review(finding("Later", { priority: 3 }), finding("Now", { priority: 0 })));
    expect(text).toContain("Full review comments:\n\n- [P0] Now — /x/a.py:1-2\n");
    expect(text.indexOf("Now")).toBeLessThan(text.indexOf("Later"));
  });

  test("ends with what was left out", () => {
    expect(rendered(review(), "Coverage: 1 of 2 files")).toBe("One path breaks.\n\nCoverage: 1 of 2 files");
  });

  test("never shows a priority twice", () => {
    expect(rendered(review(finding("[P2] Tagged", { priority: 2 })))).toContain("- [P2] Tagged —");
  });
});

describe("an answer of a model", () => {
  test.each([
    ["as asked", (json: string) => json],
    ["in a code fence", (json: string) => `Here it is:\n\`\`\`json\n${json}\n\`\`\`\nDone.`],
    ["with words around it", (json: string) => `My review: ${json} That is all.`],
  ])("is read %s", (_, dress) => {
    const read = readReview(dress(JSON.stringify(review(finding("Empty list")))));
    expect(read).toEqual(review(finding("Empty list")));
  });

  test("that is not JSON is the explanation", () => {
    expect(readReview("Looks good to me.\n")).toMatchObject({ findings: [], overall_explanation: "Looks good to me." });
  });

  test("takes the priority from the title where it is only there", () => {
    const [read] = readReview(JSON.stringify(review({ title: "[P2] Slow", body: "" }))).findings;
    expect(read).toMatchObject({ title: "Slow", priority: 2, code_location: null });
  });

  test("keeps a finding that is only a sentence", () => {
    expect(readReview('{"findings": ["It leaks."]}').findings).toMatchObject([{ title: "It leaks." }]);
  });

  test("of any shape is read and shown without a crash", () => {
    const anything = fc.oneof(
      fc.json(),
      fc.string(),
      fc.json().map((json) => `{"findings": [${json}, ${json}]}`),
    );
    fc.assert(
      fc.property(anything, (text) => {
        const read = readReview(text);
        expect(renderReview(read, null).trim()).not.toBe("");
        expect(readReview(JSON.stringify(read)).findings).toHaveLength(read.findings.length);
      }),
      runs,
    );
  });
});

test("the schema is in the form that strict providers accept", () => {
  const check = (schema: unknown): void => {
    if (typeof schema !== "object" || schema === null) return;
    const { type, properties, required, additionalProperties, items } = schema as Record<string, unknown>;
    expect(type).toBeDefined();
    if (type === "object") {
      expect(additionalProperties).toBe(false);
      expect(required).toEqual(Object.keys(properties as object));
    }
    for (const part of Object.values((properties as object) ?? {})) check(part);
    if (items) check(items);
  };
  check(reviewSchema);
});
