// The pool of agents and workers that name none.

export const defaultPool = "default";
