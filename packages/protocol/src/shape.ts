// The part of JSON Schema that configurations are declared in, read at every start instead of a validator.
export interface Shape {
  /** Absent: any value. */
  type?: "string" | "boolean" | "integer" | "number" | "array" | "object";
  enum?: string[];
  pattern?: string;
  /** Describes valid values, for messages. */
  expected?: string;
  /** Known without effect, except as one of `worksAs`. */
  noEffect?: boolean;
  worksAs?: (string | boolean)[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  minItems?: number;
  items?: Shape;
  properties?: { [key: string]: Shape };
  /** Shape of values at other keys. */
  additionalProperties?: Shape;
  anyOf?: Shape[];
}
