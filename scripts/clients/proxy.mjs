// A proxy on the loopback interface that adds a token to each request: the conformance suite has no option for one. All
// other headers stay as the client sent them, Host and Origin among them. It prints where it listens.
// Usage: REASONING_BANK_TOKEN=… node proxy.mjs URL
import http from 'node:http';

const target = new URL(process.argv[2]);
const authorization = `Bearer ${process.env.REASONING_BANK_TOKEN}`;

const proxy = http.createServer((request, response) => {
  const { method, url: path, rawHeaders } = request;
  const headers = [...rawHeaders, 'Authorization', authorization];
  const forwarded = http.request({ host: target.hostname, port: target.port, method, path, headers, setHost: false });
  forwarded.on('response', (answer) => {
    response.writeHead(answer.statusCode, answer.statusMessage, answer.rawHeaders);
    // A stream may be silent for long after its head.
    response.flushHeaders();
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  forwarded.on('error', () => response.destroy());
  // A client that goes away ends its request at the server too.
  response.on('close', () => forwarded.destroy());
  request.pipe(forwarded);
});

proxy.listen(0, '127.0.0.1', () => {
  console.log(`http://127.0.0.1:${proxy.address().port}${target.pathname}`);
});
