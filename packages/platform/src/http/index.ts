// The HTTP surface that subjects add their routes to.
export { alreadySent } from "./already-sent.ts";
export { type ApiOptions, answerUnserved, createApi } from "./api.ts";
export { authenticate } from "./authenticate.ts";
export { readBody, readJson } from "./body.ts";
export { ApiProblem, type ProblemExtra } from "./problem.ts";
export type { AnswerDefinition, Api, Call, Env, Route } from "./route.ts";
export { addSelfRoutes, type SelfOptions } from "./self.ts";
export { type HttpServer, listen } from "./server.ts";
export { invalid } from "./validate.ts";
