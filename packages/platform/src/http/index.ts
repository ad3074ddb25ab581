// The HTTP surface that subjects add their routes to.
export { ApiProblem, type ProblemExtra } from "./problem.ts";
export type { AnswerDefinition, Api, Call, Env, Route } from "./route.ts";
