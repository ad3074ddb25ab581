// Back-tests: stored events that are replayed for an automation, with runs that only propose.
export { backtestsPart } from "./replay.ts";
export { findBacktest, requestBacktest, showBacktest } from "./store.ts";
