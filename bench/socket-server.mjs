// The least that a server of connections can be: accepts WebSockets and answers the first message. Prints its address.
import { createServer } from "node:http";
import { WebSocketServer } from "ws";

const server = createServer();
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
sockets.on("connection", (socket) => {
  socket.once("message", () => socket.send('{"reply":{}}'));
  socket.on("error", () => {});
});
server.listen(0, "127.0.0.1", () => console.log(`listening on http://127.0.0.1:${server.address().port}`));
process.on("SIGTERM", () => process.exit(0));
