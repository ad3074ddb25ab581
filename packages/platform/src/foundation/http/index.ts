// The HTTP surface that subjects add their routes to.
export type { Admission, AdmissionLimits } from "./admission.ts";
export { alreadySent } from "./already-sent.ts";
export { type ApiOptions, answerUnserved, createApi } from "./api.ts";
export { ApiError, type ApiErrorDetails } from "./api-error.ts";
export { readBody, readJson } from "./body.ts";
export { clientAddress } from "./client-address.ts";
export { decodeCursor, decodeNumber, encodeCursor, type Page, type Position, pageOf } from "./cursor.ts";
export { drained } from "./drained.ts";
export type { Env } from "./env.ts";
export { fileResponse } from "./file.ts";
export type {
  AcceptSocket,
  AnswerDefinition,
  Api,
  Authenticate,
  Call,
  Caller,
  ErrorRenderer,
  HostHandler,
  Route,
  TakeSocket,
} from "./route.ts";
export { type Later, schema } from "./schema.ts";
export { addSelfRoutes, type SelfOptions } from "./self.ts";
export { type HttpServer, listen } from "./server.ts";
export { endAnswered } from "./sockets.ts";
export { invalid, validate } from "./validate.ts";
