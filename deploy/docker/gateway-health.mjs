/** The gateway's health check: it is well when it can reach its engines. */
const { SERVICES, PORT, PROXY_PORT } = process.env;
const port = (SERVICES?.trim() === 'proxy' && PROXY_PORT) || PORT || '8080';
const answer = await fetch(`http://127.0.0.1:${port}/ready`, { signal: AbortSignal.timeout(5000) });
process.exit(answer.ok ? 0 : 1);
