// The app server's protocol as one JSON Schema document: every named type, the envelopes, and the parameters of each method.
import { z } from "zod";

/** `appServer` is everything @agentcli/protocol/app-server exports. */
export function appServerBundle(appServer) {
  const names = new Map(Object.entries(appServer).flatMap(([name, value]) => (isSchema(value) ? [[value, name]] : [])));
  const nameOf = (schema) =>
    names.get(schema) ?? fail("a method uses a schema that app-server/index.ts does not export");
  const calls = (table) =>
    mapValues(table, ({ params, result }) => ({ params: nameOf(params), result: nameOf(result) }));
  const methods = {
    clientRequests: calls(appServer.clientRequests),
    serverRequests: calls(appServer.serverRequests),
    serverNotifications: mapValues(appServer.serverNotifications, (params) => ({ params: nameOf(params) })),
  };
  const definitions = { ...namedSchemas(names), ...envelopes(methods) };
  const sorted = Object.fromEntries(Object.entries(definitions).sort(([left], [right]) => (left < right ? -1 : 1)));
  return {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    title: "agentcli app server protocol",
    version: appServer.protocolVersion,
    methods,
    definitions: sorted,
  };
}

const isSchema = (value) => typeof value === "object" && value !== null && "_zod" in value;

function namedSchemas(names) {
  const registry = z.registry();
  for (const [schema, name] of names) registry.add(schema, { id: name });
  const { schemas } = z.toJSONSchema(registry, { io: "input", uri: (id) => `#/definitions/${id}` });
  // The library cannot express the recursive schema of any JSON.
  const { __shared: _, ...named } = { ...schemas, JsonValue: anyJson };
  return mapValues(named, ({ $schema: _schema, $id: _id, ...schema }) => schema);
}

/** Messages on the wire, one branch per method. */
function envelopes({ clientRequests, serverRequests, serverNotifications }) {
  const id = ref("RequestId");
  const branches = (table, more) => ({
    oneOf: Object.entries(table).map(([method, { params }]) =>
      envelope({ ...more, method: { const: method }, params: ref(params) }),
    ),
  });
  return {
    ClientRequest: branches(clientRequests, { id }),
    ServerRequest: branches(serverRequests, { id }),
    ServerNotification: branches(serverNotifications, {}),
    ClientNotification: envelope({ method: { const: "initialized" } }),
    JSONRPCRequest: { ...envelope({ id, method: { type: "string" } }), description: "params as the method takes them" },
    JSONRPCNotification: envelope({ method: { type: "string" } }),
    JSONRPCResponse: envelope({ id, result: {} }),
    JSONRPCError: envelope({ id, error: ref("JSONRPCErrorError") }),
    JSONRPCErrorError: {
      type: "object",
      properties: { code: { type: "integer" }, message: { type: "string" }, data: {} },
      required: ["code", "message"],
    },
    JSONRPCMessage: {
      anyOf: ["JSONRPCRequest", "JSONRPCNotification", "JSONRPCResponse", "JSONRPCError"].map(ref),
    },
  };
}

const ref = (name) => ({ $ref: `#/definitions/${name}` });
const anyJson = {
  anyOf: [
    ...["null", "boolean", "number", "string"].map((type) => ({ type })),
    { type: "array", items: ref("JsonValue") },
    { type: "object", additionalProperties: ref("JsonValue") },
  ],
};
const envelope = (properties) => ({
  type: "object",
  properties,
  required: Object.keys(properties).filter((name) => properties[name].$ref !== ref("NoParams").$ref),
});
const mapValues = (table, change) =>
  Object.fromEntries(Object.entries(table).map(([key, value]) => [key, change(value)]));

function fail(message) {
  throw new Error(message);
}
