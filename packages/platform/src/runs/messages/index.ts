// Messages added to an active run: they enter its conversation before the next request to the model.
export { type FollowedMessages, openRunMessages, type RunMessages } from "./follow.ts";
export { addMessage, deliveredIn, listMessages } from "./store.ts";
