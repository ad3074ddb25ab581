// Full JSON Schema validation with ajv: drafts 2020-12 and 7.
import Ajv7, { type ErrorObject, type Options } from "ajv";
import Ajv2020 from "ajv/dist/2020.js";

type Schema = Record<string, unknown>;

/** A schema under the draft it names, before it is compiled. */
export interface Draft {
  /** What is wrong with the schema by the rules of its draft, each with its location. */
  problems(): string[];
  /** Throws if the schema is valid but cannot be used, for example because of an invalid regular expression. */
  compile(): Validator;
}

export interface Validator {
  satisfies(value: unknown, pointer: string): boolean;
  /** What is wrong with a value, each with its location; empty if it is valid. */
  problems(value: unknown): string[];
}

const drafts = {
  "https://json-schema.org/draft/2020-12/schema": Ajv2020,
  "http://json-schema.org/draft-07/schema": Ajv7,
  "https://json-schema.org/draft-07/schema": Ajv7,
};
const name = "answer";
// Formats are for the provider: by the standard they are annotations, and checking them would need another library.
const options: Options = { strict: false, allErrors: true, validateFormats: false, logger: false };

export function openDraft(schema: Schema): Draft {
  const draft = String(schema.$schema ?? "https://json-schema.org/draft/2020-12/schema").replace(/#$/, "");
  const Version = Object.hasOwn(drafts, draft) ? drafts[draft as keyof typeof drafts] : undefined;
  const ajv = new (Version ?? Ajv2020)(options);
  // References inside the schema are JSON pointers, so its id can be replaced.
  const { $schema: _draft, $id: _id, ...plain } = schema;
  return {
    problems() {
      if (!Version) return [`/$schema: "${draft}" is not supported; use draft 2020-12 or draft-07, or leave it out.`];
      return ajv.validateSchema(plain) === true ? [] : (ajv.errors ?? []).map(describe);
    },
    compile: () => validatorOf(ajv.addSchema(plain, name)),
  };
}

function validatorOf(ajv: Ajv7 | Ajv2020): Validator {
  const at = (pointer: string) => {
    const validate = ajv.getSchema(pointer === "" ? name : `${name}#${pointer}`);
    if (!validate) throw new Error(`the output schema has nothing at ${pointer}`);
    return validate;
  };
  const whole = at("");
  return {
    satisfies: (value, pointer) => at(pointer)(value) === true,
    problems: (value) => (whole(value) === true ? [] : (whole.errors ?? []).map(describe)),
  };
}

function describe({ instancePath, message, params }: ErrorObject): string {
  const detail = detailOf(params);
  return `${instancePath || "/"} ${message ?? "is wrong"}${detail ? ` (${detail})` : ""}`;
}

/** Details that ajv's message leaves out. */
function detailOf(params: Record<string, unknown>): string {
  if ("allowedValues" in params)
    return (params.allowedValues as unknown[]).map((value) => JSON.stringify(value)).join(", ");
  if ("allowedValue" in params) return JSON.stringify(params.allowedValue);
  return "additionalProperty" in params ? String(params.additionalProperty) : "";
}
