// Reads a review from the final message of the model. A message that is not JSON becomes the explanation.
import type { CodeLocation, Finding, Review } from "./findings.ts";

export function readReview(message: string): Review {
  const value = candidates(message).map(parseObject).find(isReview);
  if (!value) return { ...emptyReview, overall_explanation: message.trim() };
  const findings = Array.isArray(value.findings) ? value.findings.flatMap(readFinding) : [];
  return {
    findings,
    overall_correctness: readVerdict(value.overall_correctness),
    overall_explanation: textOf(value.overall_explanation),
    overall_confidence_score: readConfidence(value.overall_confidence_score),
  };
}

const emptyReview: Review = {
  findings: [],
  overall_correctness: null,
  overall_explanation: "",
  overall_confidence_score: null,
};

type Fields = Record<string, unknown>;

/** The message itself, the content of its code fences, and the text between its outermost braces. */
function candidates(message: string): string[] {
  const fenced = [...message.matchAll(/```[a-z]*[ \t]*\n([\s\S]*?)```/gi)].map((match) => match[1] ?? "");
  const braces = message.slice(message.indexOf("{"), message.lastIndexOf("}") + 1);
  return [message, ...fenced, braces];
}

function parseObject(text: string): Fields | null {
  try {
    return asFields(JSON.parse(text));
  } catch {
    return null;
  }
}

const isReview = (value: Fields | null): value is Fields =>
  value !== null && ("findings" in value || "overall_explanation" in value || "overall_correctness" in value);

function readFinding(value: unknown): Finding[] {
  const fields = asFields(value) ?? { title: textOf(value) };
  const body = textOf(fields.body);
  const tagged = textOf(fields.title) || firstLine(body);
  if (tagged === "") return [];
  return [
    {
      title: tagged.replace(priorityTag, ""),
      body,
      confidence_score: readConfidence(fields.confidence_score),
      priority: readPriority(fields.priority) ?? readPriority(priorityTag.exec(tagged)?.[1]),
      code_location: readLocation(fields.code_location),
    },
  ];
}

const priorityTag = /^\s*\[?P([0-3])\]?[\s:.–—-]+/i;

function readPriority(value: unknown): Finding["priority"] {
  const match = ([0, 1, 2, 3] as const).find((priority) => String(priority) === String(value).replace(/^P/i, ""));
  return match ?? null;
}

function readLocation(value: unknown): CodeLocation | null {
  const fields = asFields(value);
  const path = textOf(fields?.absolute_file_path);
  if (path === "") return null;
  const range = asFields(fields?.line_range);
  const start = readLine(range?.start) ?? 1;
  const end = readLine(range?.end) ?? start;
  return { absolute_file_path: path, line_range: { start, end: Math.max(start, end) } };
}

const readLine = (value: unknown): number | null =>
  typeof value === "number" && Number.isSafeInteger(value) && value > 0 ? value : null;

const readConfidence = (value: unknown): number | null =>
  typeof value === "number" && value >= 0 && value <= 1 ? value : null;

function readVerdict(value: unknown): Review["overall_correctness"] {
  const match = (["patch is correct", "patch is incorrect"] as const).find((verdict) => verdict === value);
  return match ?? null;
}

const asFields = (value: unknown): Fields | null =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : null;

const textOf = (value: unknown): string => (typeof value === "string" ? value.trim() : "");
const firstLine = (text: string): string => text.split("\n")[0] ?? "";
