// Version of the app server's protocol: the first number changes when an existing client would no longer be understood.
export const protocolVersion = "2.0";
