// The answer of a route that has written on Node's response itself.

/** The adapter sends a fresh Response without looking at its headers; one whose body was asked for it does look at. */
export function alreadySent(): Response {
  const response = new Response(null, { headers: { "x-hono-already-sent": "true" } });
  void response.body;
  return response;
}
