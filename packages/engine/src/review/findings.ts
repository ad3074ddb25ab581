// The findings of a review, and the output schema that the model receives.
export interface Review {
  findings: Finding[];
  overall_correctness: "patch is correct" | "patch is incorrect" | null;
  overall_explanation: string;
  /** 0 to 1; null if the model gave none. */
  overall_confidence_score: number | null;
}

export interface Finding {
  /** Without its priority tag. */
  title: string;
  body: string;
  confidence_score: number | null;
  /** 0 must be fixed at once, 3 is nice to have; null if the model gave none. */
  priority: 0 | 1 | 2 | 3 | null;
  code_location: CodeLocation | null;
}

export interface CodeLocation {
  absolute_file_path: string;
  line_range: { start: number; end: number };
}

type Schema = Record<string, unknown>;

/** Everything required, nothing else allowed: the form that strict providers take. */
const object = (properties: Record<string, Schema>): Schema => ({
  type: "object",
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

const text = (description: string): Schema => ({ type: "string", description });
const confidence: Schema = { type: "number", minimum: 0, maximum: 1, description: "How sure you are, 0 to 1" };
const line: Schema = { type: "integer", minimum: 1 };

const finding = object({
  title: text("One line of at most 80 characters, with no priority tag"),
  body: text("Markdown: what goes wrong, when, and why; at most one paragraph"),
  confidence_score: confidence,
  priority: { type: "integer", minimum: 0, maximum: 3 },
  code_location: object({
    absolute_file_path: text("Absolute path of the file"),
    line_range: object({ start: line, end: line }),
  }),
});

export const reviewSchema: Schema = object({
  findings: { type: "array", items: finding },
  overall_correctness: { type: "string", enum: ["patch is correct", "patch is incorrect"] },
  overall_explanation: text("One to three sentences that justify the verdict"),
  overall_confidence_score: confidence,
});
