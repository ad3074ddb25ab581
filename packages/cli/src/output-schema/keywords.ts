// What strict providers make of each keyword of JSON Schema. They refuse a whole request for one word they do not take.

/**
 * Sent as written: the provider enforces it while the model writes. What is in neither table is left out of what is
 * sent: minLength, uniqueItems and their like only narrow, are enforced here, and the repair prompt names them;
 * default, examples and their like say nothing about the answer.
 */
export const sentKeywords: ReadonlySet<string> = new Set([
  ...["type", "enum", "const", "properties", "required", "items", "anyOf", "$ref", "$defs", "definitions"],
  ...["title", "description", "pattern", "format", "minItems", "maxItems"],
  ...["minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"],
]);

/** Refused before the first request: without them the schema would describe something else. */
export const refusedKeywords: ReadonlyMap<string, string> = new Map([
  ["oneOf", "use anyOf, which strict providers accept"],
  ["allOf", "merge its parts into one schema"],
  ["not", "say what is allowed instead"],
  ["if", "use anyOf with one object per case"],
  ["then", "use anyOf with one object per case"],
  ["else", "use anyOf with one object per case"],
  ["dependentRequired", "use anyOf with one object per case"],
  ["dependentSchemas", "use anyOf with one object per case"],
  ["dependencies", "use anyOf with one object per case"],
  // Strict objects are closed: every property name is known in advance.
  ["patternProperties", "name the properties, or use an array of objects with a name and a value"],
  ["propertyNames", "name the properties, or use an array of objects with a name and a value"],
  ["unevaluatedProperties", "strict objects are closed anyway; use additionalProperties: false"],
  // Strict arrays have one schema for all their items.
  ["prefixItems", "use an object with one property per position"],
  ["additionalItems", "use an object with one property per position"],
  ["unevaluatedItems", "use items"],
  ["contains", "describe the items with items"],
  ["minContains", "describe the items with items"],
  ["maxContains", "describe the items with items"],
  // A provider resolves nothing but pointers into the schema it was sent.
  ["$id", "put it at the root or leave it out"],
  ["$anchor", "refer to #/$defs/name"],
  ["$dynamicRef", "use $ref with #/$defs/name"],
  ["$dynamicAnchor", "use $ref with #/$defs/name"],
  ["$recursiveRef", 'use $ref with "#"'],
  ["$recursiveAnchor", 'use $ref with "#"'],
]);
