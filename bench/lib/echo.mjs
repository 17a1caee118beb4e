/** Sends back what it gets, on the port of 127.0.0.1 given as its argument. */
import { createServer } from 'node:net';

createServer((socket) => {
  socket.on('error', () => socket.destroy());
  socket.pipe(socket);
}).listen(Number(process.argv[2]), '127.0.0.1', 1024, () => process.stdout.write('listening\n'));
