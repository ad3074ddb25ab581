// Requests for an OpenAPI document: every operation with valid, nearly valid and hostile values.
import fc from "fast-check";
import { allowed, hostile, hostileText, type Schema, spoiled, type Words } from "./openapi-values.ts";

export interface Document {
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, Schema> };
}

export interface Operation {
  parameters: { name: string; in: "path" | "query"; required: boolean; schema: Schema }[];
  requestBody?: { content: { "application/json": { schema: Schema } } };
  /** Without content: the answer has no body. */
  responses: Record<string, { content?: Record<string, { schema: Schema }> }>;
}

export interface GeneratedRequest {
  operation: Operation;
  method: string;
  path: string;
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

export interface RequestContext {
  words: Words;
  /** Ids by the name of their path parameter: own, foreign, and invalid ones. */
  ids: Record<string, fc.Arbitrary<string>>;
  lastEventIds: fc.Arbitrary<string>;
}

export function requestsOf(document: Document, context: RequestContext): fc.Arbitrary<GeneratedRequest> {
  const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({
      weight: weightOf(method, operation),
      arbitrary: requestOf({ path, method, operation }, context),
    })),
  );
  return fc.oneof(...operations);
}

/** Deletions are rare, since later requests miss their target; requests with a body are frequent, since they can be wrong in many ways. */
const weightOf = (method: string, { requestBody }: Operation): number =>
  requestBody ? 12 : method === "delete" ? 1 : 4;

interface OperationPath {
  path: string;
  method: string;
  operation: Operation;
}

function requestOf(
  { path, method, operation }: OperationPath,
  context: RequestContext,
): fc.Arbitrary<GeneratedRequest> {
  const schema = operation.requestBody?.content["application/json"].schema;
  return fc
    .record({
      address: addressOf(path, operation, context),
      query: queryOf(operation, context),
      headers: headersOf(context),
      content: schema ? bodyOf(schema, context) : fc.constant({ headers: {}, body: undefined }),
    })
    .map(({ address, query, headers, content }) => ({
      operation,
      method: method.toUpperCase(),
      path: query === "" ? address : `${address}?${query}`,
      headers: { ...headers, ...content.headers },
      body: content.body,
    }));
}

function addressOf(path: string, { parameters }: Operation, { ids }: RequestContext): fc.Arbitrary<string> {
  const names = parameters.filter((parameter) => parameter.in === "path").map(({ name }) => name);
  const values = names.map((name) =>
    fc.oneof(
      { weight: 5, arbitrary: (ids[name] ?? hostileText).map(encode) },
      { weight: 1, arbitrary: hostileText.map(encode) },
    ),
  );
  return fc
    .tuple(...values)
    .map((given) => names.reduce((made, name, index) => made.replace(`{${name}}`, () => given[index] || "-"), path));
}

function queryOf({ parameters }: Operation, { words }: RequestContext): fc.Arbitrary<string> {
  const known = parameters.filter((parameter) => parameter.in === "query");
  const pair = ({ name, schema }: (typeof known)[number]) =>
    fc
      .oneof({ weight: 4, arbitrary: allowed(schema, words, name) }, { weight: 1, arbitrary: hostile })
      .map((value) => `${name}=${encode(typeof value === "string" ? value : JSON.stringify(value))}`);
  const unknown = fc.constantFrom("", "", "", "", "unknown=1", "limit=1&limit=2", "limit", "&&=&", "%ff=%fe");
  return fc
    .tuple(fc.tuple(...known.map((parameter) => optional(pair(parameter)))), unknown)
    .map(([pairs, more]) => [...pairs, more].filter((one) => one !== null && one !== "").join("&"));
}

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | null> => fc.oneof(value, fc.constant(null));

function headersOf({ lastEventIds }: RequestContext): fc.Arbitrary<Record<string, string>> {
  const text = fc.oneof(fc.stringMatching(/^[ -~]{0,40}$/), fc.stringMatching(/^[\x80-\xff]{1,20}$/));
  return fc.record(
    {
      "last-event-id": fc.oneof(lastEventIds, text),
      "idempotency-key": fc.oneof(text, fc.constantFrom("one", "two", "k".repeat(256))),
      "x-request-id": text,
      accept: fc.constantFrom("text/html", "*/*", "nonsense"),
    },
    { requiredKeys: [] },
  );
}

interface Content {
  headers: Record<string, string>;
  body: string | Buffer | undefined;
}

function bodyOf(schema: Schema, { words }: RequestContext): fc.Arbitrary<Content> {
  const good = allowed(schema, words);
  const json = (value: fc.Arbitrary<unknown>) => value.map((one) => ({ headers: asJson, body: JSON.stringify(one) }));
  return fc.oneof(
    { weight: 4, arbitrary: json(good) },
    { weight: 6, arbitrary: json(spoiled(good)) },
    { weight: 1, arbitrary: json(hostile) },
    {
      weight: 1,
      arbitrary: fc.tuple(contentTypes, good).map(([headers, one]) => ({ headers, body: JSON.stringify(one) })),
    },
    { weight: 2, arbitrary: fc.constantFrom(...brokenBodies).map((body) => ({ headers: asJson, body })) },
  );
}

const asJson = { "content-type": "application/json" };

const contentTypes = fc.constantFrom<Record<string, string>>(
  {},
  { "content-type": "text/plain" },
  { "content-type": "multipart/form-data; boundary=x" },
  { "content-type": "application/json; charset=utf-16" },
  { "content-type": "application/json;charset=utf-8" },
  { "content-type": ";;;" },
  { "content-type": "application/json", "content-encoding": "gzip" },
);

const brokenBodies: (string | Buffer | undefined)[] = [
  undefined,
  "",
  "{",
  '{"prompt":{"text":"x"}',
  "\ufeff{}",
  "nul",
  '{"prompt":{"text":"\\ud800"}}',
  Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
  Buffer.concat([Buffer.from('{"prompt":{"text":"'), Buffer.from([0xc3, 0x28]), Buffer.from('"}}')]),
  Buffer.alloc(100, 0),
  "[".repeat(100_000) + "]".repeat(100_000),
  `{"prompt":${'{"text":'.repeat(20_000)}1${"}".repeat(20_000)}}`,
  `{"prompt":{"text":"${"x".repeat(1_100_000)}"}}`,
  `{"metadata":{${Array.from({ length: 20_000 }, (_, index) => `"k${index}":"v"`).join(",")}},"prompt":{"text":"x"}}`,
];

/** Existing percent signs stay: half-encoded paths are part of the test. */
const encode = (text: string): string => {
  try {
    return encodeURIComponent(text).replaceAll("%25", "%").slice(0, 12_000);
  } catch {
    return "%ed%a0%80";
  }
};
