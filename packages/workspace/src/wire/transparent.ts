// What both ends of transparent egress agree on: the addresses inside, and the channels that carry connections and lookups.

/** The network between a machine and its listeners. All of 198.18.0.0/15 is set aside for tests: it leads nowhere outside. */
export const machineAddress = "198.18.0.2";
export const listenerAddress = "198.18.0.1";
export const linkMask = "255.255.255.252";

/** Listens for lookups at `listenerAddress`. */
export const nameServerPort = 53;

/** Names get addresses of this network, 198.19.0.0/16. */
export const namesPrefix = "198.19";
export const namesMask = "255.255.0.0";

/** The bridge opens these: a connection to a name. The id of its client and the port, in two bytes each, then the name. */
export const connectionKind = 5;
/** And these: whether a name may be reached. The other side answers one byte; for `refused` it reads which process has asked. */
export const lookupKind = 6;
export const lookupAnswers = { refused: 0, allowed: 1 } as const;
