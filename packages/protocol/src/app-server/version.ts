// Version of the app server's protocol: the first number changes with changes that break existing clients.
export const protocolVersion = "2.0";
