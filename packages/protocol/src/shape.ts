// The part of JSON Schema that configurations are declared in, read at every start instead of a validator.
export interface Shape {
  /** None: any value. */
  type?: "string" | "boolean" | "integer" | "number" | "array" | "object";
  enum?: string[];
  pattern?: string;
  /** What a value that fits the pattern is, for people. */
  expected?: string;
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minItems?: number;
  items?: Shape;
  properties?: { [key: string]: Shape };
  /** Shape of the values at keys that have none of their own. */
  additionalProperties?: Shape;
  anyOf?: Shape[];
}
