/** `npm run bench NAME [-- options]` prints the figures that this project publishes. */
interface Bench {
  readonly about: string
  /**
   * Resolves with the exit code: 0 all bars met, 1 a bar missed or a contestant wrong, 2 something is not installed.
   */
  load(): Promise<{ run(args: readonly string[]): Promise<number> }>
}

const BENCHES: Readonly<Record<string, Bench>> = {
  wire: {
    about:
      'CPU per gRPC call and per streamed GB, beside @grpc/grpc-js and node:http2 (--smoke, --rounds N, --json FILE)',
    load: () => import('./wire/bench.ts'),
  },
  index: {
    about: 'the blob index: time, bytes and pauses up to 20 million blobs, and its journal (--smoke, --million N)',
    load: () => import('./index/bench.ts'),
  },
  packs: {
    about: 'the pack store beside bare loops over the same bytes: CPU per 4 KiB blob, reopening (--smoke, --blobs N)',
    load: () => import('./packs/bench.ts'),
  },
  scheduler: {
    about: 'the cost of a scheduling decision up to a million tasks and ten thousand workers (--smoke, --all)',
    load: () => import('./scheduler/bench.ts'),
  },
  runtimes: {
    about: 'what starting a process costs a worker, by way of the spawner and without (--smoke, …)',
    load: () => import('./runtimes/bench.ts'),
  },
  journal: {
    about: 'whole task lives through engine and journal, process and power, beside a bare sync (--smoke, --lives N, …)',
    load: () => import('./journal/bench.ts'),
  },
  lists: {
    about:
      'the CPU of one list over 50,000 tasks, or a million, with each filter, by thread (--smoke, --tasks N, --rounds N)',
    load: () => import('./lists/bench.ts'),
  },
  memory: {
    about:
      'memory per queued task, a start with 100,000 open tasks, 1,000 workers that poll in vain (--smoke, --tasks N)',
    load: () => import('./memory/bench.ts'),
  },
  grid: {
    about:
      'what the grid adds to a command: latency, actions/s, scheduling delay (--smoke, --only, --long, --slots N, …)',
    load: () => import('./grid/bench.ts'),
  },
  workflows: {
    about:
      'whole CWL runs, embedded and by a server with two workers, beside cwltool (--smoke, --rounds N, --slots N, --huge)',
    load: () => import('./workflows/bench.ts'),
  },
  cache: {
    about: 'CPU per cache call and per GB, beside other servers and bare loops (--smoke, --only, --large, --reopen, …)',
    load: () => import('./cache/bench.ts'),
  },
  peers: {
    about: 'our server beside others from PATH, one row at a time; without a row, lists them (ROW… | all, --smoke, …)',
    load: () => import('./peers/bench.ts'),
  },
  snippets: {
    about:
      'a few lines of code end to end: warm, cold, compiled, cached, beside a shell; many at once (--smoke, --only, --rounds N)',
    load: () => import('./snippets/bench.ts'),
  },
  interactive: {
    about: 'a key and its echo through server, worker, sandbox and terminal, beside bare pipes (--smoke, --rounds N)',
    load: () => import('./interactive/bench.ts'),
  },
  rooms: {
    about: 'what a room of each kind costs beside a plain spawn, and from a fat worker (--smoke, --rounds N)',
    load: () => import('./rooms/bench.ts'),
  },
}

async function main([name, ...args]: readonly string[]): Promise<number> {
  const bench = name === undefined ? undefined : BENCHES[name]
  if (bench !== undefined) return (await bench.load()).run(args)
  for (const [known, { about }] of Object.entries(BENCHES)) console.log(`${known}\t${about}`)
  if (name === undefined) return 0
  console.error(`no bench is named ${name}`)
  return 2
}

// process.exit runs the 'exit' hooks, which kill the children.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(130))

try {
  process.exit(await main(process.argv.slice(2)))
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
