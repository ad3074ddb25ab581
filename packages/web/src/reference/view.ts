// What of the API reference is open, as its address says.
export interface ReferenceView {
  q?: string;
  operation?: string;
}

/** The router reads values as JSON: a search for 404 is a number there. */
export const readReferenceView = ({ q, operation }: Record<string, unknown>): ReferenceView => ({
  ...((typeof q === "string" || typeof q === "number") && q !== "" && { q: String(q) }),
  ...(typeof operation === "string" && operation !== "" && { operation }),
});
