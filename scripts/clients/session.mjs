// The MCP TypeScript SDK, as any client uses it, against the real server. One line a check, exit 1 if one fails.
//
//     node session.mjs BINARY REVISION TRANSPORT
//
// REVISION is 2025-11-25 (handshake, mode "legacy" of the SDK) or 2026-07-28 (stateless, that version pinned):
// `@modelcontextprotocol/client` 2.x speaks both. TRANSPORT is stdio or http, which means a daemon, a token and the key
// of a workspace. Structured answers are held against their schemas by the SDK itself.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { setTimeout } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

const CORE = [
    'solve_coding_task',
    'retrieve_memories',
    'record_memory',
    'report_outcome',
    'get_memory_genealogy',
    'get_statistics',
];
const LESSON = {
    title: 'Close the file before renaming it',
    description: 'When a rename fails with a sharing violation.',
    content: 'Drop every handle to the file, then rename it.',
};
const WORKSPACE = 'git:example.org/team/shop';
// Statistics are of the whole bank, so of all teams.
const PERMISSIONS = 'read,write,solve,admin:all';
const LISTENS = 'ReasoningBank listens on ';
const EXIT_WITHIN_MS = 2000;

const [binary, revision, transport] = process.argv.slice(2);
const place = realpathSync(mkdtempSync(join(tmpdir(), 'clients-')));
for (const name of ['home', 'project']) mkdirSync(join(place, name));
let failed = false;

function check(what, fine, why) {
    failed ||= !fine;
    const said = fine ? what : `${what}: ${JSON.stringify(why)}`;
    console.log(`${fine ? 'ok  ' : 'FAIL'} typescript ${transport} ${revision}: ${said}`);
}

// A client reaches a process of its own, which ends by itself once the client closes its input.
function overStdio(args, env) {
    const status = join(place, 'status');
    rmSync(status, { force: true });
    const connection = new StdioClientTransport({
        // The SDK keeps the exit status to itself, and ends a process that stays by a signal, this shell with it.
        command: '/bin/sh',
        args: ['-c', '"$@"; echo $? >"$STATUS"', 'sh', binary, ...args, 'mcp'],
        cwd: join(place, 'project'),
        env: { ...env, STATUS: status },
    });
    const close = async client => {
        await client.close();
        return readIfThere(status)?.trim();
    };
    return { connection, close, kill: () => {} };
}

// A client reaches a daemon, with a token of its own. The daemon ends once it is asked to.
async function overHttp(args, env) {
    const options = { cwd: join(place, 'project'), env, stdio: ['ignore', 'pipe', 'inherit'] };
    const create = ['--json', 'token', 'create', String(Date.now()), '--all-workspaces', '--permissions', PERMISSIONS];
    const { token } = JSON.parse(execFileSync(binary, [...args, ...create], options));
    const headers = { Authorization: `Bearer ${token}`, 'X-Workspace': WORKSPACE };
    const daemon = spawn(binary, [...args, 'serve', '--listen', '127.0.0.1:0'], options);
    const ended = once(daemon, 'exit');
    const [line] = await once(createInterface({ input: daemon.stdout }), 'line');
    const url = new URL(line.slice(LISTENS.length));
    const connection = new StreamableHTTPClientTransport(url, { requestInit: { headers } });
    const close = async client => {
        // Says goodbye to a session, where the revision has them.
        await connection.terminateSession();
        await client.close();
        daemon.kill();
        return String((await ended)[0]);
    };
    return { connection, close, kill: () => daemon.kill('SIGKILL') };
}

// A client of a new process, which has to end with 0, in time.
async function withServer(latencyMs, use) {
    writeFileSync(join(place, 'config.toml'), `[llm.simulated]\nlatency_ms = ${latencyMs}\n`);
    rmSync(join(place, 'log'), { force: true });
    const args = ['--config', join(place, 'config.toml'), '--data-dir', join(place, 'data'), '--llm', 'simulated'];
    const { connection, close, kill } = await { stdio: overStdio, http: overHttp }[transport](args, {
        PATH: process.env.PATH,
        HOME: join(place, 'home'),
        REASONING_BANK__LOG__FILE: join(place, 'log'),
        REASONING_BANK__LOG__FORMAT: 'json',
    });
    try {
        const mode = revision.startsWith('2026') ? { pin: revision } : 'legacy';
        const client = new Client({ name: 'session', version: '1' }, { versionNegotiation: { mode } });
        client.onerror = error => check('nothing that comes surprises the SDK', false, String(error));
        await client.connect(connection);
        await use(client);
        const closing = performance.now();
        const code = await close(client);
        const took = Math.round(performance.now() - closing);
        check('the process ends well', code === '0' && took < EXIT_WITHIN_MS, { code, took });
    } finally {
        kill();
    }
}

function readIfThere(file) {
    try {
        return readFileSync(file, 'utf8');
    } catch {
        return undefined;
    }
}

async function call(client, name, args, options) {
    const result = await client.callTool({ name, arguments: args }, options);
    const text = JSON.parse(result.content[0].text);
    return { isError: result.isError === true, document: result.structuredContent, text };
}

async function session(client) {
    const agreed = client.getNegotiatedProtocolVersion();
    check('the revision is agreed on', agreed === revision, agreed);
    const { tools } = await client.listTools();
    const names = tools.map(tool => tool.name);
    check('the core tools are listed', CORE.every(name => names.includes(name)), names);
    check('every tool says what it answers', tools.every(tool => tool.outputSchema), names);

    const recorded = (await call(client, 'record_memory', LESSON)).document;
    check('a lesson is recorded', recorded.status === 'created', recorded);
    const found = await call(client, 'retrieve_memories', { query: 'a rename fails with a sharing violation' });
    check('it is found', found.document.memories.some(memory => memory.id === recorded.id), found);
    check('the text says the same', isDeepStrictEqual(found.text, found.document), found);

    const heard = [];
    const task = { task: 'Write a binary search over a sorted list.', matts_k: 3 };
    const solved = await call(client, 'solve_coding_task', task, { onprogress: progress => heard.push(progress) });
    check('a task is solved', solved.document.outcome === 'success' && solved.document.solution, solved);
    const rising = heard.every(({ progress }, at) => at === 0 || heard[at - 1].progress < progress);
    const totals = new Set(heard.map(({ total }) => total));
    check('progress rises towards one total', heard.length > 1 && rising && totals.size === 1, heard);
    check('progress stays within it', heard.length && heard.at(-1).progress <= heard.at(-1).total, heard);

    const refused = await call(client, 'retrieve_memories', { query: 'q', n_results: 1000 });
    const { code, message, hint, retryable } = refused.document;
    check(
        'an error is a tool error with code, message, hint and retryable',
        refused.isError && code === 'invalid_argument' && message.includes('n_results') && hint && retryable === false,
        refused,
    );
    check('an error says the same as text', isDeepStrictEqual(refused.text, refused.document), refused);

    const calls = {
        report_outcome: { memory_ids: [recorded.id], helpful: true },
        get_memory_genealogy: { memory_id: recorded.id },
        get_statistics: {},
    };
    for (const [name, args] of Object.entries(calls)) {
        const answer = await call(client, name, args);
        check(`${name} answers`, !answer.isError, answer);
    }
}

async function cancelling(client) {
    const abort = new AbortController();
    const solving = client.callTool(
        { name: 'solve_coding_task', arguments: { task: 'Sort a list.' } },
        { signal: abort.signal },
    );
    const ended = solving.then(() => 'answered', () => 'rejected');
    // Answered after the solve was read: there is a call to cancel.
    await call(client, 'retrieve_memories', { query: 'q' });
    abort.abort();
    check('a cancelled call is rejected', (await ended) === 'rejected', await ended);
    const found = await call(client, 'retrieve_memories', { query: 'rename' });
    check('a session goes on after a cancelled call', !found.isError, found);
    // Before the server ends, which would cancel the solve as well.
    for (const began = performance.now(); !solvesEnded().length && performance.now() - began < EXIT_WITHIN_MS; )
        await setTimeout(50);
    check('a cancelled solve ends at once', isDeepStrictEqual(solvesEnded(), ['cancelled']), solvesEnded());
}

// How the solves that the log tells of ended.
function solvesEnded() {
    const whole = readFileSync(join(place, 'log'), 'utf8').split('\n').slice(0, -1);
    const lines = whole.map(line => JSON.parse(line).fields);
    return lines.filter(fields => fields.message === 'a task ended').map(fields => fields.outcome);
}

try {
    await withServer(120, session);
    await withServer(60_000, cancelling);
} catch (error) {
    check('the session', false, String(error?.stack ?? error));
} finally {
    rmSync(place, { recursive: true, force: true });
}
process.exit(failed ? 1 : 0);
